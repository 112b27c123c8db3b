import { createHash } from 'node:crypto'
import { ReadCache } from '../catalog/database.ts'
import type { DatasetRecord, Part, Version } from '../catalog/records.ts'
import { manifest, manifestList, SEQUENCE } from './manifest.ts'
import { NAMED, type Naming, nameMapping, partitionOf, schemaOf } from './table-schema.ts'

/** The place of the manifests, from which readers open them as files. */
export interface ManifestStore {
  /** The address of the manifest with this name; for an empty name, the address of their folder. */
  url(name: string): string
  /** Writes a manifest atomically, unless it exists. */
  write(name: string, bytes: Uint8Array): Promise<void>
  /** The names of all manifests, and of files beside them that are none. */
  all(): Promise<string[]>
  /** Those of them that this process knows without much work. */
  known(): Promise<string[]>
  remove(name: string): Promise<void>
}

/**
 * Versions as tables of Apache Iceberg. Manifests are made when a table is first asked for, since most versions are
 * never read this way. The content of a manifest depends only on the catalog, and its name depends on its content. So
 * it doesn't matter which node makes it or how often, or if a catalog that has since been restored from a backup made
 * another manifest for the same version number.
 */
export class IcebergTables {
  readonly #store: ManifestStore
  /** The names of the lists that were written. */
  readonly #written = new ReadCache()

  constructor(store: ManifestStore) {
    this.#store = store
  }

  /**
   * Call it while a lease keeps the version from being removed.
   * @param urlOf gives the address at which readers find a part
   */
  async metadata(
    dataset: DatasetRecord,
    version: Version,
    naming: Naming,
    urlOf: (part: Part) => string,
  ): Promise<TableMetadata> {
    const name = await this.#written.get(`${version.id} ${naming}`, () => this.#write(version, naming, urlOf))
    return tableMetadata(dataset, version, naming, this.#store, name)
  }

  /** Writes the manifest before the list, so that an existing list never names a missing manifest. */
  async #write(version: Version, naming: Naming, urlOf: (part: Part) => string): Promise<string> {
    const files = await manifest(version, naming, urlOf)
    const name = nameOf(version, 'manifest', files)
    await this.#store.write(name, files)
    const list = await manifestList(version, { url: this.#store.url(name), bytes: files.length })
    const listName = nameOf(version, 'list', list)
    await this.#store.write(listName, list)
    return listName
  }
}

function nameOf({ id }: Version, kind: 'manifest' | 'list', bytes: Uint8Array): string {
  return `${id}-${kind}-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}.avro`
}

/**
 * The id of the version to which the manifest of this name belongs; undefined if the name is not that of a manifest.
 */
export function versionOfManifest(name: string): number | undefined {
  const id = /^(\d+)-(?:manifest|list)-[0-9a-f]+\.avro$/.exec(name)?.[1]
  return id === undefined ? undefined : Number(id)
}

/** Iceberg numbers the fields of partitions from 1000 on. */
const LAST_PARTITION_ID = 999

/** The metadata of a version as a table of Iceberg, as JSON (table spec, Appendix C, Table Metadata). */
function tableMetadata(
  dataset: DatasetRecord,
  version: Version,
  naming: Naming,
  store: ManifestStore,
  list: string,
) {
  const at = Date.parse(version.createdAt)
  const { id, parts } = version
  const schema = schemaOf(version, naming)
  const partition = partitionOf(version, naming)
  return {
    'format-version': 2,
    'table-uuid': tableUuid(dataset),
    // The folder in which writers would put files. The format requires it, though nobody can write.
    location: store.url(''),
    'last-sequence-number': SEQUENCE,
    'last-updated-ms': at,
    'last-column-id': Math.max(0, ...schema.fields.map((field) => field.id)),
    'current-schema-id': 0,
    schemas: [schema],
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: partition }],
    'last-partition-id': LAST_PARTITION_ID + partition.length,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    properties: {
      'schema.name-mapping.default': nameMapping(version),
      // Of Iceberg 1.10 for Spark, only the reader of single rows decodes our texts and doubles; of 1.12 both do.
      'read.parquet.vectorization.enabled': 'false',
      'parquetry.dataset': String(dataset.id),
      'parquetry.version': String(version.number),
      ...(naming === NAMED && dataset.description && { comment: dataset.description }),
    },
    'current-snapshot-id': id,
    snapshots: [
      {
        'snapshot-id': id,
        'sequence-number': SEQUENCE,
        'timestamp-ms': at,
        'manifest-list': store.url(list),
        'schema-id': 0,
        summary: {
          operation: 'append',
          'total-data-files': String(parts.length),
          'total-records': String(version.rows),
          'total-files-size': String(version.bytes),
        },
      },
    ],
    'snapshot-log': [{ 'snapshot-id': id, 'timestamp-ms': at }],
    'metadata-log': [],
    refs: { main: { 'snapshot-id': id, type: 'branch' } },
    statistics: [],
    'partition-statistics': [],
  }
}

export type TableMetadata = ReturnType<typeof tableMetadata>

/**
 * A UUID that stays the same for a dataset on every node, and that no other dataset has. The time of creation is part
 * of it, because another service may use the same id for another dataset.
 */
function tableUuid({ id, createdAt }: DatasetRecord): string {
  const hex = createHash('sha256').update(`parquetry ${id} ${createdAt}`).digest('hex')
  // Version 8 of RFC 9562, 5.8: bits of our own choice.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
