export { type TrinoLimits, TrinoRoute, type TrinoTable } from './route.ts'
export type { TrinoSourceOptions, TrinoStats } from './source.ts'
export { versionTable } from './table.ts'
export { type TrinoOptions, trinoSettings } from './trino-options.ts'
