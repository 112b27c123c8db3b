export type { TrinoOptions } from './trino.ts'
export { Trino, type TrinoStats } from './trino.ts'
