import { deserialize } from 'node:v8'
import { ByteStream } from '../../export/byte-stream.ts'
import type { EncodeOptions } from '../../export/formats/encoder.ts'
import type { QueryExecutor, StreamOptions } from '../../export/index.ts'
import type { ReaderProcess } from '../../ingest/process/reader-process.ts'
import type { Format, Statement } from '../../types/index.ts'
import { framesOf, type RowsOpened, type RowsRequest } from './jobs.ts'

const READING = 'rows for a statement'

/**
 * Runs statements in a process for users' SQL, which also encodes them.
 * @param safe whether first rows are sorted without top-N
 */
export function sqlExecutor(process: ReaderProcess, safe: boolean): QueryExecutor {
  const open = (
    statement: Statement,
    format: Format | undefined,
    { signal, rowBytes, whole, counting }: StreamOptions,
    // The process can't call functions of ours.
    { envelope: _, ...encoding }: EncodeOptions = {},
  ) => opened(process, { safe, statement, format, options: { rowBytes, whole, counting }, encoding }, signal)

  return {
    async rows(statement, { signal } = {}) {
      const rows = await process.run('rows', { statement, safe }, signal ? { signal } : {}, READING)
      return rows as readonly (readonly unknown[])[]
    },

    async *values(statement, options = {}) {
      const stream = await open(statement, undefined, options)
      for await (const bytes of stream) yield deserialize(bytes) as unknown[][]
    },

    bytes: (statement, format, options = {}, encoding = {}) => open(statement, format, options, encoding),
  }
}

/** Begins to read rows, and gives their bytes as they come through the pipe. */
async function opened(
  process: ReaderProcess,
  request: RowsRequest,
  signal: AbortSignal | undefined,
): Promise<ByteStream> {
  const hooks = signal ? { signal } : {}
  const facts = (await process.run('open', request, hooks, READING)) as RowsOpened
  const ending = new AbortController()
  const ends = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal
  const sent = facts.sent ? Promise.resolve() : process.run('send', undefined, { signal: ends }, READING)
  // It may fail while nobody waits for it.
  sent.catch(() => {})
  const frames = framesOf(process.bytes!)
  // What has been sent may wait in the pipe, which does not keep our process from ending.
  const keeping = setInterval(() => {}, 2 ** 30)
  let rows = 0
  async function* bytes() {
    try {
      for (let frame = await frames.next(); !frame.done; frame = await frames.next()) {
        rows = frame.value.rows
        yield frame.value.bytes
      }
    } catch (error) {
      await sent
      throw error
    }
    await sent
  }
  const { size, coding, matches } = facts
  return new ByteStream(bytes(), {
    rows: () => rows,
    size,
    coding,
    matches,
    async close() {
      ending.abort()
      // What is under way must not be taken for the bytes of the next statement.
      try {
        while (!(await frames.next()).done);
      } catch {
      } finally {
        clearInterval(keeping)
      }
      await sent.catch(() => {})
    },
  })
}
