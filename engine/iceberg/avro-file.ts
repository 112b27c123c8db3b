import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'

/** Loaded only when a table is first asked for, because few readers use Iceberg. */
const load = createRequire(import.meta.url)

/**
 * An Avro object container file (Avro 1.12, Object Container Files). The same records always give the same bytes, so
 * several nodes can make the same file at the same time without harm.
 * @param header further metadata of the file, which readers find beside the schema
 */
export async function avroFile(
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
