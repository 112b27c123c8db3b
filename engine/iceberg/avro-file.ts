import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'

/** Loaded with the first table that is asked for, because few readers come by Iceberg. */
const load = createRequire(import.meta.url)

/**
 * An Avro object container file (Avro 1.12, Object Container Files). The same records give the same bytes, so that
 * nodes which make it at the same time do not disturb each other.
 * @param header what a reader finds beside the schema, as text
 */
export async function avroFile(
  schema: object,
  records: Iterable<object>,
  header: Readonly<Record<string, string>>,
): Promise<Buffer> {
  const { streams } = load('avsc') as typeof import('avsc')
  const metadata = Object.fromEntries(Object.entries(header).map(([key, text]) => [key, Buffer.from(text)]))
  // Drawn by lot by default; any sixteen bytes serve.
  const syncMarker = createHash('sha256').update(JSON.stringify(header)).digest().subarray(0, 16)
  // A file without records has its header, too. The types of avsc don't know of `metadata`.
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
