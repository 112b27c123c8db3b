import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Arena } from '../duckdb/batch.ts'
import type { StartOptions } from '../duckdb/cursor.ts'
import { cancelled } from '../duckdb/errors.ts'
import { parquetVersion, shownFooter } from '../parquet/footer.ts'
import { fileEnd, readFooter } from '../parquet/parquet-file.ts'
import { quoteLiteral, type Statement } from '../types/index.ts'
import { ByteStream } from './byte-stream.ts'
import type { ExecutorParts } from './dispatch.ts'
import type { EncodeOptions } from './formats/encoder.ts'

const READ_BYTES = 256 << 10
/** The most bytes of a row group before compression, and DuckDB's default number of rows in a row group. */
const GROUP_BYTES = 32 << 20
const GROUP_ROWS = 122_880
/** How long to wait before looking whether the file has grown. */
const GROWS_MS = 20

export interface ParquetOptions extends StartOptions {
  readonly encoding?: EncodeOptions['encoding']
  readonly metadata?: EncodeOptions['metadata'] | undefined
  /** Whether both 0 and -0 may be among the doubles. In dictionaries, DuckDB takes them for one value. */
  readonly signedZeros?: (() => Promise<boolean>) | undefined
}

/**
 * Has DuckDB write a Parquet file, hands its bytes out while the file grows, and removes the file at the end. Resolves
 * when the first bytes are there. Bytes that the client has not taken yet wait on the disk, not in memory. Columns of
 * type json are marked as JSON.
 */
export async function exportParquet(
  parts: ExecutorParts,
  statement: Statement,
  options: ParquetOptions,
): Promise<ByteStream> {
  const file = join(parts.directory, `export-${randomUUID()}.parquet`)
  const ending = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, ending.signal]) : ending.signal
  const writing = writeParquet(parts, statement, file, { ...options, signal })
  // The reader gets its error. The stream is closed when the writing has settled, because the file is removed then.
  const settled = writing.catch(() => {})
  let rows = 0
  const shown = (footer: Uint8Array) => shownFooter(footer, statement.columns, options.metadata)
  const growing = growingFile(file, writing, shown, signal, (all) => (rows = all))
  let first: IteratorResult<Uint8Array, void> | undefined
  async function* bytes() {
    if (first && !first.done) yield first.value
    yield* growing
  }
  const stream: ByteStream = new ByteStream(bytes(), {
    rows: () => rows,
    async close() {
      ending.abort(cancelled(options.signal))
      parts.running.delete(stream)
      await settled
      await growing.return()
      await rm(file, { force: true })
    },
  })
  parts.running.add(stream)
  try {
    first = await growing.next()
  } catch (error) {
    await stream[Symbol.asyncDispose]()
    throw error
  }
  return stream
}

/**
 * Has DuckDB write a Parquet file, and returns the number of rows. The columns are called `c0`, `c1` … in it, because
 * DuckDB does not distinguish names that differ only by case.
 */
export async function writeParquet(
  { runner }: ExecutorParts,
  { sql, parameters, columns }: Statement,
  file: string,
  options: ParquetOptions,
): Promise<number> {
  const names = columns.map((_, index) => `c${index}`)
  // Spark can't open a file with a column of these types.
  const asText = (type: string) => options.encoding === 'plain' && (type === 'uuid' || type === 'time')
  const values = columns.map(({ type }, index) => (asText(type) ? `CAST(c${index} AS VARCHAR)` : `c${index}`))
  const dictionaries = (await options.signedZeros?.()) ? ', DICTIONARY_SIZE_LIMIT 0' : ''
  const groupRows = Math.round(GROUP_BYTES / Math.max(options.rowBytes ?? 0, 1) / 2048) * 2048
  const cursor = await runner.start(
    {
      sql:
        `COPY (SELECT * FROM (SELECT ${values} FROM (${sql}) AS result(${names})) AS written(${names})) ` +
        `TO ${quoteLiteral(file)} (FORMAT parquet, PARQUET_VERSION '${parquetVersion(options.encoding ?? 'plain')}', ` +
        `ROW_GROUP_SIZE ${Math.min(Math.max(groupRows, 2048), GROUP_ROWS)}${dictionaries})`,
      parameters,
      columns: [{ name: 'rows', type: 'integer' }],
    },
    options,
  )
  try {
    const chunk = await cursor.fetch()
    if (!chunk) return 0
    const { vectors } = cursor.decode(chunk, new Arena('reused'))
    return (vectors[0]!.words[0]! >>> 0) + vectors[0]!.words[1]! * 2 ** 32
  } finally {
    await cursor.close()
  }
}

/** Waits for a moment. Gives whether writing has ended by then. @throws the error that it failed with */
function ended(writing: Promise<number>): Promise<boolean> {
  return Promise.race([writing.then(() => true), delay(GROWS_MS, false)])
}

async function* growingFile(
  file: string,
  writing: Promise<number>,
  shown: (footer: Uint8Array) => Uint8Array,
  signal: AbortSignal,
  atEnd: (rows: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  await using handle = await opened(file, writing)
  let at = 0
  for (let done = false; ; done = await ended(writing)) {
    // What the file ends with while it grows may be DuckDB's footer, whose columns have other names. So the last bytes
    // wait until the file is complete. Of a longer footer the beginning may be handed out; it stays in front of the new
    // one, where no reader looks.
    const end = done ? (await readFooter(handle)).start : (await handle.stat()).size - READ_BYTES
    while (at < end) {
      if (signal.aborted) throw cancelled(signal)
      const length = Math.min(READ_BYTES, end - at)
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafeSlow(length), { position: at })
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
    if (signal.aborted) throw cancelled(signal)
    if (done) break
  }
  atEnd(await writing)
  // The footer with the columns as users see them.
  yield fileEnd(shown((await readFooter(handle)).footer))
}

/** Opens the file as soon as DuckDB has made it. */
async function opened(file: string, writing: Promise<number>): Promise<FileHandle> {
  for (let done = false; ; done = await ended(writing)) {
    try {
      return await open(file)
    } catch (error) {
      if (done || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}
