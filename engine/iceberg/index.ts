export type { TableMetadata } from './metadata.ts'
export { NAMED, type Naming, PLAIN } from './schema.ts'
export { IcebergTables, type ManifestStore, versionOfManifest } from './tables.ts'
