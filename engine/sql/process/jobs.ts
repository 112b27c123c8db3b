import type { Readable } from 'node:stream'
import { serialize } from 'node:v8'
import { isBroken } from '../../duckdb/errors.ts'
import { normaliseColumn } from '../../duckdb/normalise.ts'
import type { ByteStream } from '../../export/byte-stream.ts'
import type { EncodeOptions } from '../../export/formats/encoder.ts'
import type { Executor, StreamOptions } from '../../export/index.ts'
import type { Hooks } from '../../ingest/request.ts'
import type { ColumnType, Format, Statement } from '../../types/index.ts'
import { checkTree } from '../check.ts'
import { INTERNAL } from '../errors.ts'
import type { TreeNode } from '../nodes.ts'
import { cutConstants, notAsRead, SqlParameters, withConstants } from '../rewrite.ts'

interface DescribeRequest {
  readonly tree: string
  /** WITH and the tables that the tree names. */
  readonly tables: string
  /** The constants that were taken out of the tree. */
  readonly held: readonly string[]
}

export interface RowsRequest {
  readonly statement: Statement
  readonly safe: boolean
  /** Without one, they are wanted as values. */
  readonly format: Format | undefined
  readonly options: Pick<StreamOptions, 'rowBytes' | 'whole' | 'counting'>
  readonly encoding: EncodeOptions
}

/** What is known when the first rows are there. */
export interface RowsOpened extends Pick<ByteStream, 'size' | 'coding'> {
  readonly matches?: number | undefined
  /** Whether all rows are in the pipe already, so that `send` is not needed. */
  readonly sent?: boolean | undefined
}

/** A column of a statement: its type, and the expression over DuckDB's column that has this type. */
export interface DescribedColumn {
  readonly name: string
  readonly type: ColumnType
  readonly sql: string
}

/** Whoever gets these bytes must know how many rows came before their end. */
export interface Framed {
  readonly bytes: Uint8Array
  readonly rows: number
}

/** Before each piece of bytes: how many bytes it has, and how many rows have been sent with it. A piece of none is the end. */
const HEAD_BYTES = 12

export function headOf(bytes: number, rows: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(bytes)
  head.writeDoubleLE(rows, 4)
  return head
}

/** Each pipe is read by one iterator, because the end of another one would close the pipe. */
const chunksOf = new WeakMap<Readable, AsyncIterator<Buffer>>()

/** The pieces that come through a pipe, up to the end mark. @throws if the pipe is closed before */
export async function* framesOf(pipe: Readable): AsyncGenerator<Framed, void, undefined> {
  const chunks = chunksOf.get(pipe) ?? (pipe[Symbol.asyncIterator]() as AsyncIterator<Buffer>)
  chunksOf.set(pipe, chunks)
  let rest: Buffer = Buffer.alloc(0)
  async function take(bytes: number): Promise<Buffer> {
    const taken = [rest]
    for (let length = rest.length; length < bytes; length += rest.length) {
      const next = await chunks.next()
      if (next.done) throw new Error('The process has closed its pipe.')
      rest = next.value
      taken.push(rest)
    }
    const whole = taken.length > 1 ? Buffer.concat(taken) : rest
    rest = whole.subarray(bytes)
    return whole.subarray(0, bytes)
  }
  for (;;) {
    const head = await take(HEAD_BYTES)
    const length = head.readUInt32LE(0)
    if (length === 0) return
    yield { bytes: await take(length), rows: head.readDoubleLE(4) }
  }
}

/**
 * What a process that runs users' SQL does. Rows go through `write`, one request at a time.
 * @param executor gives a DuckDB; a `safe` one sorts first rows without top-N (duckdb#25158)
 * @param write writes bytes to the parent; resolves when there is room for more
 */
export function sqlJobs(
  executor: (safe: boolean) => Promise<Executor>,
  write: (frame: Framed) => Promise<void>,
) {
  let opened: AsyncIterable<Framed> | undefined

  const jobs = {
    /** DuckDB's tree of a text, or what is wrong with it, as JSON. */
    async parse({ text }: { readonly text: string }, { signal }: Hooks): Promise<string> {
      const [tree] = await textsOf(await executor(false), [serialized('$1::varchar')], text, signal)
      return tree!
    },

    async describe(request: DescribeRequest, { signal }: Hooks) {
      return describe(await executor(false), request, signal)
    },

    /** Few rows, as values: counts and plans. */
    async rows({ statement, safe }: Pick<RowsRequest, 'statement' | 'safe'>, { signal }: Hooks) {
      return (await executor(safe)).rows(statement, { signal })
    },

    /** Begins to read rows, which `send` then sends. */
    async open(request: RowsRequest, { signal }: Hooks): Promise<RowsOpened> {
      const { statement, format, options, encoding } = request
      const duck = await executor(request.safe)
      if (!format) {
        opened = valuesOf(duck, statement, signal)
        return { size: undefined, coding: undefined }
      }
      const stream = await duck.bytes(statement, format, { ...options, signal }, encoding)
      const { size, coding } = stream
      const matches = await stream.matches
      if (options.whole) await sendFew(stream, write)
      else opened = bytesOf(stream)
      return { size, coding, matches, sent: options.whole }
    },

    /** Sends the rows to their end, or until it is aborted; in any case their end is marked. */
    async send(_: unknown, { signal }: Hooks): Promise<void> {
      let last: Framed | undefined
      try {
        for await (const frame of opened!) {
          last = frame
          await write(frame)
          signal?.throwIfAborted()
        }
      } finally {
        opened = undefined
        await write(endAfter(last))
      }
    },
  }
  return Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, endingIfBroken(job)]))
}

/** A job that ends the process if DuckDB would refuse every later statement, so that another takes its place. */
function endingIfBroken(job: (input: never, hooks: Hooks) => Promise<unknown>) {
  return async (input: never, hooks: Hooks) => {
    try {
      return await job(input, hooks)
    } catch (error) {
      if (isBroken(error)) {
        process.stderr.write(`${(error as Error).message}\n`, () => process.kill(process.pid, 'SIGKILL'))
        await new Promise(() => {})
      }
      throw error
    }
  }
}

/** Sends rows that are few enough to wait in the pipe. */
async function sendFew(stream: ByteStream, write: (frame: Framed) => Promise<void>): Promise<void> {
  const frames = await Array.fromAsync(bytesOf(stream))
  for (const frame of [...frames, endAfter(frames.at(-1))]) void write(frame)
}

function endAfter(last: Framed | undefined): Framed {
  return { bytes: new Uint8Array(0), rows: last?.rows ?? 0 }
}

function serialized(text: string): string {
  return `json_serialize_sql(${text}, skip_default := true)`
}

/** What expressions of a text make of it. */
async function textsOf(
  duck: Executor,
  expressions: readonly string[],
  text: string,
  signal: AbortSignal | undefined,
) {
  const columns = expressions.map((name) => ({ name, type: 'string' as const }))
  const sql = `SELECT ${expressions.join(', ')}`
  const [row] = await duck.rows({ sql, parameters: [text], columns, light: true }, { signal })
  return row!.map(String)
}

/** Makes SQL of a tree, and finds its columns. */
async function describe(
  duck: Executor,
  { tree, tables, held }: DescribeRequest,
  signal: AbortSignal | undefined,
) {
  const whole = `{"error":false,"statements":[${tree}]}`
  const written = 'json_deserialize_sql($1::json)'
  const [sql, parsed] = await textsOf(duck, [written, serialized(written)], whole, signal)
  const cut = cutConstants(sql!, onlyOurs(parsed!), held.length)
  const query = withConstants(cut, held)
  const described = await duck.rows(
    {
      sql: `SELECT column_name, column_type FROM (DESCRIBE ${tables}SELECT * FROM (${query}\n))`,
      parameters: [],
      columns: [
        { name: 'name', type: 'string' },
        { name: 'type', type: 'string' },
      ],
    },
    { signal },
  )
  const columns = described.map(
    ([name, type], index): DescribedColumn => ({
      name: String(name),
      ...normaliseColumn(String(type), `r${index}`),
    }),
  )
  return { sql: cut, columns }
}

/**
 * Checks the SQL that was made of a checked tree once more, as if a user had sent it, in case DuckDB writes a tree in a
 * way that it reads differently. Besides, all its tables must be ours. Gives its tree.
 */
function onlyOurs(parsed: string): TreeNode {
  const { error, statements = [] } = JSON.parse(parsed) as { error: boolean; statements?: TreeNode[] }
  const checked =
    error || statements.length !== 1 ? undefined : checkTree(statements[0]!, new SqlParameters())
  const isOurs = checked?.tables.every(({ node, repository, name }) => {
    return name.startsWith(INTERNAL) && repository === undefined && node['at_clause'] === undefined
  })
  if (!checked || !isOurs) throw notAsRead()
  return checked.statement
}

async function* bytesOf(stream: ByteStream): AsyncGenerator<Framed> {
  try {
    for await (const bytes of stream) {
      yield { bytes, rows: stream.rows() }
      stream.recycle(bytes)
    }
  } finally {
    await stream[Symbol.asyncDispose]()
  }
}

async function* valuesOf(
  duck: Executor,
  statement: Statement,
  signal: AbortSignal | undefined,
): AsyncGenerator<Framed> {
  let rows = 0
  for await (const some of duck.values(statement, { signal })) {
    const values = [...some]
    rows += values.length
    yield { bytes: serialize(values), rows }
  }
}
