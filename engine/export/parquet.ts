import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Arena } from '../duckdb/batch.ts'
import type { StartOptions } from '../duckdb/cursor.ts'
import { cancelled } from '../duckdb/errors.ts'
import { parquetVersion, rowGroups, shownFooter } from '../parquet/footer.ts'
import { type Joined, type JoinedColumn, type JoinedFile, joinFiles } from '../parquet/joined.ts'
import { fileEnd, footerOf, MAGIC, readFooter } from '../parquet/parquet-file.ts'
import type { Slice } from '../plan/plan.ts'
import type { Copies } from '../plan/statements.ts'
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
  const stream = new ByteStream(bytes(), {
    rows: () => rows,
    running: parts.running,
    async close() {
      ending.abort(cancelled(options.signal))
      await settled
      await growing.return()
      await rm(file, { force: true })
    },
  })
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
async function writeParquet(
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

/** How many buffers are kept to be read into again. */
const MOST_SPARE = 8
/** Files smaller than this on average have such short row groups that a file made of them would be slow to read. */
const LEAST_FILE = 256 << 10
/** The most bytes of footers to read. With more, of very wide tables, this takes as long as writing the rows anew. */
const MOST_FOOTERS = 16 << 20
const MOST_FILES = 1_000

/** A part, a part of it, or rows of it that were written anew. */
interface CopiedFile extends JoinedFile {
  readonly path: string
}

/**
 * Joins rows of several Parquet files into one file and copies their pages as they are: nothing is unpacked, so the
 * first bytes are there at once. If the rows begin or end within a row group, those of this row group are written anew.
 * @returns undefined where the files are too many, too small or too different; then all rows have to be written anew
 */
export async function exportCopied(
  parts: ExecutorParts,
  copies: Copies,
  options: ParquetOptions,
): Promise<ByteStream | undefined> {
  return await exportFiles(parts, copies.columns, options, (write) =>
    filesOf(copies, (slice) => write(copies.statement(slice))),
  )
}

/** Writes the rows of each statement as a file, and joins these: never more than those of one are in memory. */
export async function exportJoined(
  parts: ExecutorParts,
  statements: readonly Statement[],
  options: ParquetOptions,
): Promise<ByteStream> {
  const columns = statements[0]!.columns.map((column, stored) => ({ ...column, stored }))
  const stream = await exportFiles(parts, columns, options, async (write) => {
    const files: CopiedFile[] = []
    for (const statement of statements) files.push(await write(statement))
    return files
  })
  if (!stream) throw new TypeError('the statements have different columns')
  return stream
}

/**
 * @param find gives the files to join; `write` makes one for it, which is removed at the end of the stream
 * @returns undefined where there are none, or where they are too different
 */
async function exportFiles(
  parts: ExecutorParts,
  columns: readonly JoinedColumn[],
  options: ParquetOptions,
  find: (write: (statement: Statement) => Promise<CopiedFile>) => Promise<CopiedFile[] | undefined>,
): Promise<ByteStream | undefined> {
  const { signal } = options
  if (signal?.aborted) throw cancelled(signal)
  const written: string[] = []
  const clean = async () => {
    await Promise.all(written.map((path) => rm(path, { force: true })))
  }
  try {
    const found = await find(async (statement) => {
      const path = join(parts.directory, `export-${randomUUID()}.parquet`)
      written.push(path)
      await writeParquet(parts, statement, path, options)
      return { path, footer: (await footerOf(path)).footer, same: true }
    })
    const joined = found && joinFiles(found, columns, options.metadata)
    if (joined) return joinedBytes(parts, found, joined, signal, clean)
  } catch (error) {
    await clean()
    throw error
  }
  await clean()
  return undefined
}

/** @param clean called at the end of the stream */
function joinedBytes(
  parts: ExecutorParts,
  files: readonly CopiedFile[],
  joined: Joined,
  signal: AbortSignal | undefined,
  clean: () => Promise<void>,
): ByteStream {
  const end = fileEnd(joined.footer)
  const ending = new AbortController()
  const over = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal
  const spare: ArrayBufferLike[] = []
  const lent = new WeakSet<ArrayBufferLike>()
  let rows = 0
  async function* bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    yield MAGIC
    for (const { file, from, to } of joined.copied) {
      await using handle = await open(files[file]!.path)
      for (let at = from; at < to; ) {
        if (over.aborted) throw cancelled(over)
        const memory = spare.pop() ?? new ArrayBuffer(READ_BYTES)
        const part = new Uint8Array(memory, 0, Math.min(READ_BYTES, to - at))
        const { bytesRead } = await handle.read(part, 0, part.length, at)
        if (bytesRead === 0) throw new RangeError(`${files[file]!.path} is cut off`)
        at += bytesRead
        lent.add(memory)
        yield part.subarray(0, bytesRead)
      }
    }
    if (over.aborted) throw cancelled(over)
    rows = joined.rows
    yield end
  }
  const chunks = bytes()
  return new ByteStream(chunks, {
    rows: () => rows,
    running: parts.running,
    size: joined.copied.reduce((sum, { from, to }) => sum + to - from, MAGIC.length + end.length),
    recycle({ buffer }) {
      if (lent.delete(buffer) && spare.length < MOST_SPARE) spare.push(buffer)
    },
    async close() {
      ending.abort(cancelled(signal))
      await chunks.return()
      await clean()
    },
  })
}

/** What to join; undefined where copying would not be worth it. */
async function filesOf(
  { slices, columns }: Copies,
  write: (slice: Slice) => Promise<CopiedFile>,
): Promise<CopiedFile[] | undefined> {
  if (slices.length > MOST_FILES || new Set(columns.map(({ stored }) => stored)).size < columns.length) {
    return undefined
  }
  const pieces: (CopiedFile | Slice)[] = []
  let bytes = 0
  let footerBytes = 0
  let copied = 0
  let rewritten = 0
  for (const slice of slices) {
    const { footer, start } = await footerOf(slice.file)
    bytes += start
    footerBytes += footer.length
    if (footerBytes > MOST_FOOTERS) return undefined
    const cut = cutSlice(slice, footer)
    pieces.push(...cut.pieces)
    copied += cut.copied
    rewritten += cut.rewritten
  }
  if (slices.length > 1 && bytes < LEAST_FILE * slices.length) return undefined
  if (rewritten > copied) return undefined
  const files: CopiedFile[] = []
  const whole = pieces.filter((piece) => 'path' in piece)
  // Nothing is written in vain if what is copied can't be joined.
  if (rewritten > 0 && !joinFiles(whole, columns)) return undefined
  for (const piece of pieces) files.push('path' in piece ? piece : await write(piece))
  return files
}

/** The whole row groups of a slice, and the rows before and after them. */
function cutSlice(slice: Slice, footer: Uint8Array) {
  const { file: path, from = 0, to = Number.POSITIVE_INFINITY } = slice
  const pieces: (CopiedFile | Slice)[] = []
  let rows = 0
  let first: number | undefined
  let last = 0
  let begin = 0
  let end = 0
  for (const [index, group] of rowGroups(footer).entries()) {
    const start = rows
    rows += group.rows
    if (start < from || rows > to) continue
    if (first === undefined) begin = start
    first ??= index
    last = index + 1
    end = rows
  }
  const count = Math.min(to, rows) - from
  if (first === undefined) return { pieces: [slice], copied: 0, rewritten: count }
  if (begin > from) pieces.push({ ...slice, from, to: begin })
  pieces.push({ path, footer, groups: { from: first, to: last } })
  if (end < Math.min(to, rows)) pieces.push({ ...slice, from: end, to })
  return { pieces, copied: end - begin, rewritten: count - (end - begin) }
}
