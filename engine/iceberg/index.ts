export type { TableMetadata } from './metadata.ts'
export { isNumbered, NAMED, type Naming, PLAIN } from './table-schema.ts'
export { IcebergTables, type ManifestStore, versionOfManifest } from './tables.ts'
