export { Trino, type TrinoStats } from './trino.ts'
export type { TrinoOptions } from './trino-options.ts'
