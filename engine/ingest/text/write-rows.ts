import { stat } from 'node:fs/promises'
import { openSink, type SinkTarget, unpacksTooLarge } from '../file.ts'
import type { ReadRequest } from '../request.ts'
import type { TypedRows } from './rewritten.ts'

const ROWS_AT_ONCE = 1024
const BYTES_AT_ONCE = 64 * 1024

/**
 * Writes rows of a typed format to a new file of csv.
 * @param write writes one of them, all of its values and its end
 * @param total how many there are, where that is known
 * @throws EngineError `upload_too_large`, `storage_full`; what `write` throws
 */
export async function writeRows<Row>(
  { file, bytes: given, limits, signal, onProgress }: ReadRequest,
  target: SinkTarget,
  rows: TypedRows,
  source: Iterable<Row> | AsyncIterable<Row>,
  write: (row: Row) => void,
  total?: number,
): Promise<void> {
  const size = given?.byteLength ?? (await stat(file)).size
  await using sink = await openSink(target)
  let held = 0
  let written = 0
  for await (const row of source) {
    write(row)
    if (++held < ROWS_AT_ONCE && rows.out.length < BYTES_AT_ONCE) continue
    held = 0
    signal?.throwIfAborted()
    const text = rows.out.take()
    written += text.byteLength
    await sink.write(text)
    if (written > limits.unpackedBytes) throw unpacksTooLarge(limits.unpackedBytes)
    const bytes = total === undefined ? size : Math.round(Math.min(1, rows.rows / total) * size)
    onProgress?.({ bytes, rows: rows.rows })
  }
  await sink.write(rows.out.take())
}
