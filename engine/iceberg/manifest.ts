import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { Part, Version } from '../catalog/records.ts'
import { MANIFEST_FILE, manifestEntry } from './avro-schemas.ts'
import { boundBytes, type Side } from './bounds.ts'
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
    const place = isOrdered(version, naming) ? { [FIRST]: first } : {}
    first += part.rows
    return {
      status: ADDED,
      snapshot_id: version.id,
      sequence_number: SEQUENCE,
      file_sequence_number: SEQUENCE,
      data_file: { ...dataFile(version, part, urlOf(part)), partition: place },
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
