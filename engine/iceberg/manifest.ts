import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { Part, Version } from '../catalog/records.ts'
import { type ColumnType, typeName } from '../types/index.ts'
import { FIRST, fieldId, isOrdered, type Naming, partitionOf, schemaOf } from './table-schema.ts'

/** Loaded only when a table is first asked for, because few readers use Iceberg. */
const load = createRequire(import.meta.url)

/**
 * Entries for files kept from an older snapshot or for deleted rows are not needed: each version lists all its parts.
 */
const ADDED = 1
const DATA = 0
/** Sequence numbers order the snapshots of a table. We show only one snapshot at a time, so all can have the same. */
export const SEQUENCE = 1

/** The pairs of a map of Iceberg, by ids of fields. */
type ByField<Value> = readonly { readonly key: number; readonly value: Value }[]

/**
 * The manifest of a version: its parts with their sizes, rows, and the lower and upper bounds of each column, by which
 * readers skip files.
 * @param urlOf gives the address at which readers find a part
 */
export function manifest(version: Version, naming: Naming, urlOf: (part: Part) => string): Promise<Buffer> {
  const partition = partitionOf(version, naming)
  let first = 0
  const entries = version.parts.map((part) => {
    const firstRow = isOrdered(version, naming) ? { [FIRST]: first } : {}
    first += part.rows
    return {
      status: ADDED,
      snapshot_id: version.id,
      sequence_number: SEQUENCE,
      file_sequence_number: SEQUENCE,
      data_file: { ...dataFile(version, part, urlOf(part)), partition: firstRow },
    }
  })
  return avroFile(manifestEntry(partition), entries, {
    schema: JSON.stringify(schemaOf(version, naming)),
    'schema-id': '0',
    'partition-spec': JSON.stringify(partition),
    'partition-spec-id': '0',
    'format-version': '2',
    content: 'data',
  })
}

function dataFile({ columns }: Version, part: Part, url: string) {
  const known = columns.flatMap(({ type }, index) => {
    const bounds = part.statistics?.[index]
    return bounds ? [{ key: fieldId(index), type, bounds }] : []
  })
  const ends = (side: Side): ByField<Buffer> =>
    known.flatMap(({ key, type, bounds }) => {
      const bytes = boundBytes(type, side === 'lower' ? bounds.min : bounds.max, side)
      return bytes ? [{ key, value: Buffer.from(bytes) }] : []
    })
  return {
    content: DATA,
    file_path: url,
    file_format: 'PARQUET',
    record_count: part.rows,
    file_size_in_bytes: part.bytes,
    value_counts: known.map(({ key }) => ({ key, value: part.rows })),
    null_value_counts: known.map(({ key, bounds }) => ({ key, value: bounds.nulls })),
    lower_bounds: ends('lower'),
    upper_bounds: ends('upper'),
  }
}

/** The manifest list of a version, which has one manifest. */
export function manifestList(
  version: Version,
  { url, bytes }: { readonly url: string; readonly bytes: number },
): Promise<Buffer> {
  const line = {
    manifest_path: url,
    manifest_length: bytes,
    partition_spec_id: 0,
    content: DATA,
    sequence_number: SEQUENCE,
    min_sequence_number: SEQUENCE,
    added_snapshot_id: version.id,
    added_files_count: version.parts.length,
    existing_files_count: 0,
    deleted_files_count: 0,
    added_rows_count: version.rows,
    existing_rows_count: 0,
    deleted_rows_count: 0,
  }
  return avroFile(MANIFEST_FILE, [line], {
    'snapshot-id': String(version.id),
    'parent-snapshot-id': 'null',
    'sequence-number': String(SEQUENCE),
    'format-version': '2',
  })
}

/**
 * An Avro object container file (Avro 1.12, Object Container Files). The same records always give the same bytes, so
 * several nodes can make the same file at the same time without harm.
 * @param header further metadata of the file, which readers find beside the schema
 */
async function avroFile(
  schema: object,
  records: Iterable<object>,
  header: Readonly<Record<string, string>>,
): Promise<Buffer> {
  const { streams } = load('avsc') as typeof import('avsc')
  const metadata = Object.fromEntries(Object.entries(header).map(([key, text]) => [key, Buffer.from(text)]))
  // Random by default, which would change the bytes of the file; any sixteen bytes are allowed.
  const syncMarker = createHash('sha256').update(JSON.stringify(header)).digest().subarray(0, 16)
  // A file without records needs its header, too. The types of avsc lack `metadata`.
  const options = { codec: 'deflate', writeHeader: true, syncMarker, metadata }
  const encoder = new streams.BlockEncoder(schema as import('avsc').Schema, options)
  const pieces: Buffer[] = []
  encoder.on('data', (piece: Buffer) => pieces.push(piece))
  const ended = once(encoder, 'end')
  for (const record of records) encoder.write(record)
  encoder.end()
  await ended
  return Buffer.concat(pieces)
}

/** Whether a bound is the lower or the upper one. */
type Side = 'lower' | 'upper'

/**
 * A bound of a part's statistics (`ColumnBounds`) in Iceberg's binary form (table spec, Appendix D, binary single-value
 * serialization). undefined if readers must not skip files by it.
 */
export function boundBytes(type: ColumnType, text: string | null, side: Side): Uint8Array | undefined {
  if (text === null) return undefined
  const name = typeName(type)
  switch (name) {
    case 'boolean':
      return Uint8Array.of(text === 'true' ? 1 : 0)
    case 'string':
    case 'json':
      return Buffer.from(text, 'utf8')
    case 'double':
      return doubleBytes(Number(text.replace('inf', 'Infinity')), side)
    case 'decimal':
      return shortestBytes(BigInt(text))
    case 'date':
      return wholeNumber(text, 32)
    case 'integer':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return wholeNumber(text, 64)
    // Some Java readers compare the two halves of a UUID as signed numbers, and would skip files that match.
    case 'uuid':
    case 'binary':
      return undefined
    default:
      return name satisfies never
  }
}

/** Readers sort -0 before 0, though the two are equal, so a lower bound of zero is -0 and an upper one is 0. */
function doubleBytes(value: number, side: Side): Uint8Array | undefined {
  if (Number.isNaN(value)) return undefined
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value === 0 ? (side === 'lower' ? -0 : 0) : value)
  return bytes
}

/** An integer of the given number of bits, the low byte first. */
function wholeNumber(text: string, bits: 32 | 64): Uint8Array | undefined {
  const value = BigInt(text)
  if (BigInt.asIntN(bits, value) !== value) return undefined
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(value)
  return bytes.subarray(0, bits / 8)
}

/** An integer as two's complement in the fewest bytes that hold it, the high byte first. */
function shortestBytes(value: bigint): Uint8Array {
  let length = 1
  while (BigInt.asIntN(length * 8, value) !== value) length += 1
  const digits = BigInt.asUintN(length * 8, value).toString(16)
  return Buffer.from(digits.padStart(length * 2, '0'), 'hex')
}

/*
 * The Avro schemas of manifests and manifest lists (Iceberg table spec, version 2, Manifests and Manifest Lists).
 * Readers find fields by `field-id`; maps whose keys are not strings are arrays of pairs with `logicalType: map`
 * (Appendix A).
 */

const optional = (name: string, id: number, type: unknown) => ({
  name,
  type: ['null', type],
  default: null,
  'field-id': id,
})
const required = (name: string, id: number, type: unknown) => ({ name, type, 'field-id': id })

/** A map from ids of fields, as an array of pairs. */
const byField = (key: number, value: number, type: string) => ({
  type: 'array',
  logicalType: 'map',
  items: {
    type: 'record',
    name: `k${key}_v${value}`,
    fields: [required('key', key, 'int'), required('value', value, type)],
  },
})

const list = (element: number, items: unknown) => ({ type: 'array', items, 'element-id': element })

const dataFileSchema = (partition: readonly unknown[]) => ({
  type: 'record',
  name: 'r2',
  fields: [
    required('content', 134, 'int'),
    required('file_path', 100, 'string'),
    required('file_format', 101, 'string'),
    required('partition', 102, { type: 'record', name: 'r102', fields: partition }),
    required('record_count', 103, 'long'),
    required('file_size_in_bytes', 104, 'long'),
    optional('column_sizes', 108, byField(117, 118, 'long')),
    optional('value_counts', 109, byField(119, 120, 'long')),
    optional('null_value_counts', 110, byField(121, 122, 'long')),
    optional('nan_value_counts', 137, byField(138, 139, 'long')),
    optional('lower_bounds', 125, byField(126, 127, 'bytes')),
    optional('upper_bounds', 128, byField(129, 130, 'bytes')),
    optional('key_metadata', 131, 'bytes'),
    optional('split_offsets', 132, list(133, 'long')),
    optional('equality_ids', 135, list(136, 'int')),
    optional('sort_order_id', 140, 'int'),
  ],
})

/** One line of a manifest: a file of rows. The fields of the partition are numbers. */
const manifestEntry = (partition: readonly { readonly name: string; readonly 'field-id': number }[]) => ({
  type: 'record',
  name: 'manifest_entry',
  fields: [
    required('status', 0, 'int'),
    optional('snapshot_id', 1, 'long'),
    optional('sequence_number', 3, 'long'),
    optional('file_sequence_number', 4, 'long'),
    required(
      'data_file',
      2,
      dataFileSchema(partition.map((field) => optional(field.name, field['field-id'], 'long'))),
    ),
  ],
})

const PARTITION_SUMMARY = {
  type: 'record',
  name: 'r508',
  fields: [
    required('contains_null', 509, 'boolean'),
    optional('contains_nan', 518, 'boolean'),
    optional('lower_bound', 510, 'bytes'),
    optional('upper_bound', 511, 'bytes'),
  ],
}

/** One line of a manifest list: a manifest. */
const MANIFEST_FILE = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    required('manifest_path', 500, 'string'),
    required('manifest_length', 501, 'long'),
    required('partition_spec_id', 502, 'int'),
    required('content', 517, 'int'),
    required('sequence_number', 515, 'long'),
    required('min_sequence_number', 516, 'long'),
    required('added_snapshot_id', 503, 'long'),
    required('added_files_count', 504, 'int'),
    required('existing_files_count', 505, 'int'),
    required('deleted_files_count', 506, 'int'),
    required('added_rows_count', 512, 'long'),
    required('existing_rows_count', 513, 'long'),
    required('deleted_rows_count', 514, 'long'),
    optional('partitions', 507, list(508, PARTITION_SUMMARY)),
    optional('key_metadata', 519, 'bytes'),
  ],
}
