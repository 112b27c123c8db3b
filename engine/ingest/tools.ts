import type { Duck } from '../duckdb/duck.ts'
import type { Workers } from './threads/workers.ts'

/** What every reader of a format works with. */
export interface Tools {
  readonly duck: Duck
  readonly workers: Workers
}
