export type { TableMetadata } from './metadata.ts'
export { isNumbered, NAMED, type Naming, PLAIN } from './schema.ts'
export { IcebergTables, type ManifestStore, versionOfManifest } from './tables.ts'
