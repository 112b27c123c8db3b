import type { Duck } from '../duckdb/duck.ts'
import type { Workers } from './threads/workers.ts'

/** The tools that the reader of each format works with. */
export interface Tools {
  readonly duck: Duck
  readonly workers: Workers
}
