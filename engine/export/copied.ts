import { type FileHandle, open } from 'node:fs/promises'
import { cancelled } from '../duckdb/errors.ts'
import { fileEnd, MAGIC, readFooter } from '../parquet/file-footer.ts'
import { type Joined, type JoinedColumn, type JoinedFile, joinFiles } from '../parquet/joined.ts'
import type { ByteStream, Surroundings } from './deliver.ts'

const READ_BYTES = 256 << 10
/** How many buffers are kept to be read into again. */
const MOST_SPARE = 8
/** Files smaller than this on average have such short row groups that a file made of them would be slow to read. */
const LEAST_FILE = 256 << 10
/** The most bytes of footers to read. With more, of very wide tables, this takes as long as writing the rows anew. */
const MOST_FOOTERS = 16 << 20
const MOST_FILES = 1_000

/**
 * Joins columns of several Parquet files into one file and copies their pages as they are: nothing is unpacked, so the
 * first bytes are there at once.
 * @returns undefined where the files are too many, too small or too different; then they have to be written anew
 */
export async function exportCopied(
  around: Surroundings,
  files: readonly string[],
  columns: readonly JoinedColumn[],
  { signal }: { readonly signal?: AbortSignal | undefined },
): Promise<ByteStream | undefined> {
  if (signal?.aborted) throw cancelled(signal)
  const joined = await join(files, columns)
  if (!joined) return undefined
  const end = fileEnd(joined.footer)
  const ending = new AbortController()
  const over = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal
  const spare: ArrayBufferLike[] = []
  const lent = new WeakSet<ArrayBufferLike>()
  let rows = 0
  async function* bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield MAGIC
      for (const { file, from, to } of joined!.copied) {
        await using handle = await open(files[file]!)
        for (let at = from; at < to; ) {
          if (over.aborted) throw cancelled(over)
          const memory = spare.pop() ?? new ArrayBuffer(READ_BYTES)
          const part = new Uint8Array(memory, 0, Math.min(READ_BYTES, to - at))
          const { bytesRead } = await handle.read(part, 0, part.length, at)
          if (bytesRead === 0) throw new RangeError(`${files[file]} is cut off`)
          at += bytesRead
          lent.add(memory)
          yield part.subarray(0, bytesRead)
        }
      }
      if (over.aborted) throw cancelled(over)
      rows = joined!.rows
      yield end
    } finally {
      around.running.delete(stream)
    }
  }
  const generator = bytes()
  const stream: ByteStream = {
    rows: () => rows,
    size: joined.copied.reduce((sum, { from, to }) => sum + to - from, MAGIC.length + end.length),
    recycle({ buffer }) {
      if (lent.delete(buffer) && spare.length < MOST_SPARE) spare.push(buffer)
    },
    async [Symbol.asyncDispose]() {
      ending.abort(cancelled(signal))
      around.running.delete(stream)
      await generator.return()
    },
    [Symbol.asyncIterator]: () => generator,
  }
  around.running.add(stream)
  return stream
}

async function join(files: readonly string[], columns: readonly JoinedColumn[]): Promise<Joined | undefined> {
  if (files.length > MOST_FILES || new Set(columns.map(({ stored }) => stored)).size < columns.length) {
    return undefined
  }
  const joined: JoinedFile[] = []
  let bytes = 0
  let footerBytes = 0
  for (const file of files) {
    await using handle: FileHandle = await open(file)
    const { footer, start } = await readFooter(handle)
    bytes += start
    footerBytes += footer.length
    if (footerBytes > MOST_FOOTERS) return undefined
    joined.push({ footer })
  }
  if (files.length > 1 && bytes < LEAST_FILE * files.length) return undefined
  return joinFiles(joined, columns)
}
