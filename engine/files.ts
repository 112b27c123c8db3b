import { createHash } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { checkMemoryLimit, sizeOfLimit } from './duckdb/instance.ts'
import { NOT_MICROSECONDS, normaliseParquetColumn } from './duckdb/normalise.ts'
import { checkThreads } from './engine-options.ts'
import { EngineError, invalidOption } from './errors.ts'
import { type Executor, openExecutor } from './export/index.ts'
import type { SqlColumn } from './filter/index.ts'
import type { Names } from './options.ts'
import { contentOf } from './parquet/footer.ts'
import { footerOf } from './parquet/parquet-file.ts'
import { schemaOf } from './parquet/schema.ts'
import { readStruct, type Struct } from './parquet/thrift.ts'
import { Counts } from './plan/counts.ts'
import type { Plan, PlanSource, QueryOptions } from './plan/plan.ts'
import { Query } from './query.ts'
import { Reading } from './reading/reading.ts'
import { type Column, quoteIdentifier, quoteLiteral } from './types/index.ts'
import { requireKnown } from './types/known-options.ts'
import { checkRuntime } from './util/runtime.ts'

export interface FilesOptions {
  /** Threads of DuckDB; the number of cores by default. */
  readonly threads?: number
  /** Threads that encode; the number of cores by default. */
  readonly workers?: number
  /** How much memory DuckDB may use, as `2GiB`; by default 40 % of the machine's. */
  readonly memoryLimit?: string
}

const KNOWN: Names<FilesOptions> = { threads: true, workers: true, memoryLimit: true }

/**
 * Opens any Parquet files, which can then be queried like a dataset, without a data directory. Close them, or use them
 * with `await using`.
 *
 * A folder stands for all `*.parquet` files below it, sorted by name in each folder; files and folders whose names
 * begin with `.` or `_` are left out. Parts of a path such as `year=2024` become columns. Several files are read as one
 * table, one after the other: columns are matched by name, and a column that a file lacks is null there. Where names
 * differ only by case, all files must have the same columns in the same order.
 *
 * The files must not change while they are open.
 * @throws EngineError `invalid_file`: there is no file, or it is not Parquet; `column_conflict`: the files' columns
 * don't fit together; `invalid_option`
 */
export async function openFiles(
  path: string | readonly string[],
  options: FilesOptions = {},
): Promise<ParquetFiles> {
  checkRuntime()
  requireKnown(options, KNOWN)
  checkThreads(options)
  checkMemoryLimit(options.memoryLimit)
  const paths = typeof path === 'string' ? [path] : path
  if (!Array.isArray(paths) || !paths.every((one) => typeof one === 'string')) {
    throw invalidOption('openFiles takes the path of a file or a folder, or a list of paths.')
  }
  if (paths.length === 0) throw invalid('No path is given: name a file or a folder.')
  const found = (await Promise.all(paths.map((one) => filesAt(resolve(one))))).flat()
  if (found.length === 0) throw invalid(`There is no *.parquet below ${paths.join(', ')}.`)
  const temporary = await mkdtemp(join(tmpdir(), 'parquetry-'))
  try {
    const threads = options.threads ?? availableParallelism()
    const executor = await openExecutor({
      threads,
      workers: options.workers ?? threads,
      memoryLimit: sizeOfLimit(options.memoryLimit),
      tempDirectory: temporary,
      allowedDirectories: [...new Set(found.map((file) => dirname(file.path)))],
      onReplaced: () => {},
    })
    try {
      return new ParquetFiles(executor, temporary, found, await describe(executor, found))
    } catch (error) {
      await executor.close()
      throw error
    }
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    throw error
  }
}

/** Parquet files as one table. Made by `openFiles`. */
export class ParquetFiles implements AsyncDisposable {
  readonly columns: readonly Column[]
  readonly rowCount: number
  readonly #executor: Executor
  readonly #temporary: string
  readonly #source: PlanSource
  readonly #identity: string
  readonly #counts = new Counts()

  /** Use `openFiles`. */
  constructor(executor: Executor, temporary: string, files: readonly File[], described: Described) {
    this.#executor = executor
    this.#temporary = temporary
    this.#source = foreignSource(described, files)
    this.#identity = createHash('sha256').update(JSON.stringify(files)).digest('base64url')
    this.columns = described.columns.map(({ name, type }) => ({
      name,
      type,
      nullable: true,
      description: '',
    }))
    this.rowCount = described.rows
  }

  /** @throws EngineError what is wrong with the options; see `Query` */
  query(options: QueryOptions = {}): Query {
    const executor = () => Promise.resolve(this.#executor)
    const context = {
      source: this.#source,
      identity: this.#identity,
      executor,
      counts: this.#counts,
      reading: (plan: Plan) => new FileReading(plan),
    }
    return new Query(context, options)
  }

  /** Ends queries under way. */
  async close(): Promise<void> {
    await this.#executor.close()
    await rm(this.#temporary, { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** A file as it was when it was opened. */
interface File {
  readonly path: string
  readonly bytes: number
  readonly changed: number
}

interface Described {
  /** `sql` is an expression over DuckDB's name of the column, and has the column's type. */
  readonly columns: readonly SqlColumn[]
  readonly rows: number
  readonly rowBytes: number
  /** DuckDB's names of the columns. */
  readonly duckNames: readonly string[]
}

async function filesAt(path: string): Promise<File[]> {
  const { size, mtimeMs, isFolder } = await stat(path).then(
    (found) => ({ size: found.size, mtimeMs: found.mtimeMs, isFolder: found.isDirectory() }),
    (cause) => {
      throw invalid(`There is no file or folder ${path}.`, cause)
    },
  )
  if (!isFolder) return [{ path, bytes: size, changed: mtimeMs }]
  const entries = await readdir(path, { withFileTypes: true })
  const listed = entries.filter(isListed).sort((a, b) => (a.name < b.name ? -1 : 1))
  return (await Promise.all(listed.map((entry) => filesAt(join(path, entry.name))))).flat()
}

/** Leaves out names that begin with `.` or `_`: programs that write data put such files beside it, as `_SUCCESS`. */
function isListed(entry: Dirent): boolean {
  return !/^[._]/.test(entry.name) && (entry.isDirectory() || /\.parquet$/i.test(entry.name))
}

/** Names, types and sizes, from the files' footers. */
async function describe(executor: Executor, files: readonly File[]): Promise<Described> {
  try {
    const names: FileNames[] = []
    let rows = 0
    let bytes = 0
    for (const { path } of files) {
      const footer = readStruct((await footerOf(path)).footer)
      names.push({ file: path, names: namesIn(footer) })
      const content = contentOf(footer)
      rows += content.rows
      bytes += content.rawBytes
    }
    checkTogether(names)
    const described = await executor.rows({
      sql: `SELECT column_name, column_type FROM (DESCRIBE FROM ${readParquet(globList(files))})`,
      parameters: [],
      columns: [
        { name: 'name', type: 'string' },
        { name: 'type', type: 'string' },
      ],
    })
    const duckNames = described.map(([name]) => String(name))
    const own = ownNames(names[0]!.names)
    return {
      // DuckDB renames a column if another one's name differs from it only by case; the positions stay the same.
      columns: described.map(([duckName, duckType], index) => ({
        name: own[index] ?? String(duckName),
        ...normaliseParquetColumn(String(duckType), quoteIdentifier(String(duckName))),
      })),
      rows,
      rowBytes: rows === 0 ? 0 : Math.ceil(bytes / rows),
      duckNames,
    }
  } catch (error) {
    if (error instanceof EngineError) throw error
    throw invalid(`${files.map((file) => file.path).join(', ')} can't be read as Parquet.`, error)
  }
}

/** The names of a file's columns. */
interface FileNames {
  readonly file: string
  readonly names: readonly string[]
}

function namesIn(footer: Struct): string[] {
  return schemaOf(footer).flatMap(({ name, isColumn }) => (isColumn ? [name] : []))
}

/** DuckDB matches columns without regard to case, so it would mix up columns whose names differ only by case. */
function checkTogether(files: readonly FileNames[]): void {
  const first = files[0]!
  if (!differOnlyByCase([...new Set(files.flatMap((file) => file.names))])) return
  const other = files.find((file) => JSON.stringify(file.names) !== JSON.stringify(first.names))
  if (!other) return
  throw new EngineError(
    'column_conflict',
    `Some column names differ only by case, so all files must have the same columns in the same order; ` +
      `${first.file} has ${first.names.join(', ')} and ${other.file} has ${other.names.join(', ')}.`,
  )
}

function differOnlyByCase(names: readonly string[]): boolean {
  return new Set(names.map((name) => name.toLowerCase())).size < names.length
}

/**
 * The names that columns have in the file, if DuckDB has changed some of them; otherwise empty. Where a name occurs a
 * second time, it is undefined: that column keeps DuckDB's name.
 */
function ownNames(names: readonly string[]): readonly (string | undefined)[] {
  if (!differOnlyByCase(names)) return []
  const seen = new Set<string>()
  return names.map((name) => (seen.size < seen.add(name).size ? name : undefined))
}

/** The files as a source for the planner, with columns `c0`, `c1` … and the position of each row. */
function foreignSource(
  { columns, rows, rowBytes, duckNames }: Described,
  files: readonly File[],
): PlanSource {
  // If the files have a column with one of these names, DuckDB's own column of that name can't be read.
  const hidden = duckNames.some((name) => /^file_(index|row_number)$/i.test(name))
  const position = hidden
    ? '0 AS file_index, row_number() OVER () AS file_row_number'
    : 'file_index, file_row_number'
  const read = columns.map((column, index) => `${column.sql} AS c${index}`).join(', ')
  const from = `(SELECT ${read}, ${position} FROM ${readParquet(globList(files))})`
  // By the number of a row in its file, the scan can skip the rows before it; OFFSET would read them.
  const range = (first: number, end: number) =>
    files.length === 1 && !hidden
      ? `WHERE file_row_number >= ${first} AND file_row_number < ${end}`
      : `LIMIT ${end - first} OFFSET ${first}`
  return {
    columns: columns.map(({ name, type }, index) => ({ name, type, sql: `c${index}` })),
    rows,
    rowBytes,
    scan: (first, end) => ({
      kind: 'foreign',
      sql: first === 0 && end >= rows ? from : `(SELECT * FROM ${from} ${range(first, end)})`,
    }),
  }
}

function readParquet(list: string): string {
  // A file's bounds leave out NaN, as the format has it, and DuckDB would take them for the bounds of all values.
  return `read_parquet(${list}, union_by_name = true, can_have_nan = true)`
}

/** Paths as an SQL list; characters that have a meaning in DuckDB's file patterns are put in brackets. */
function globList(files: readonly File[]): string {
  return `[${files.map((file) => quoteLiteral(file.path.replaceAll(/[[*?]/g, '[$&]'))).join(', ')}]`
}

/** A reading whose errors are about the rows of a file, which show only when the rows are read. */
class FileReading extends Reading {
  protected override unreadable(error: unknown): EngineError | undefined {
    const message = error instanceof Error ? error.message : ''
    const fine = message.indexOf(NOT_MICROSECONDS)
    if (fine >= 0) {
      const said = message.slice(fine).split('\n', 1)[0]
      return new EngineError('not_representable', `${said}. Leave the column out of select.`, {
        cause: error,
      })
    }
    if (!/^(IO|Invalid Input|Conversion|Invalid|Serialization) Error/.test(message)) return undefined
    return invalid('The file is damaged, or was changed while it was open.', error)
  }
}

function invalid(message: string, cause?: unknown): EngineError {
  return new EngineError('invalid_file', message, { cause })
}
