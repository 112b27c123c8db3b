import { createHash } from 'node:crypto'
import type { DatasetRecord, Version } from '../catalog/records.ts'
import { SEQUENCE } from './manifest.ts'
import { NAMED, type Naming, nameMapping, partitionOf, schemaOf } from './table-schema.ts'

/** Iceberg numbers the fields of partitions from 1000 on. */
const LAST_PARTITION_ID = 999

interface TablePlace {
  /** The folder in which writers would put files. The format requires it, though nobody can write. */
  readonly location: string
  readonly manifestList: string
}

/** The metadata of a version as a table of Iceberg, as JSON (table spec, Appendix C, Table Metadata). */
export function tableMetadata(
  dataset: DatasetRecord,
  version: Version,
  naming: Naming,
  { location, manifestList }: TablePlace,
) {
  const at = Date.parse(version.createdAt)
  const { id, parts, columns } = version
  const schema = schemaOf(version, naming)
  const partition = partitionOf(version, naming)
  return {
    'format-version': 2,
    'table-uuid': tableUuid(dataset),
    location,
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
      'schema.name-mapping.default': nameMapping(columns),
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
        'manifest-list': manifestList,
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
