import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Arena } from '../duckdb/batch.ts'
import { cancelled } from '../duckdb/errors.ts'
import type { StartOptions } from '../duckdb/source.ts'
import { shownFooter } from '../parquet/footer.ts'
import { quoteLiteral, type Statement } from '../types/index.ts'
import type { ByteStream, Surroundings } from './deliver.ts'

const READ_BYTES = 256 << 10
/** What a row group may take before it is packed, and DuckDB's default of rows in one. */
const GROUP_BYTES = 32 << 20
const GROUP_ROWS = 122_880

/**
 * Has DuckDB write a Parquet file, then hands its bytes out and removes it. Resolves when it is written: a Parquet
 * file can't be had piece by piece.
 */
export async function exportParquet(
  around: Surroundings,
  statement: Statement,
  directory: string,
  options: StartOptions,
): Promise<ByteStream> {
  const file = join(directory, `export-${randomUUID()}.parquet`)
  const written = await copy(around, statement, file, options).catch(async (error) => {
    await rm(file, { force: true })
    throw error
  })
  let rows = 0
  const { signal } = options
  const generator = fileBytes(file, statement, signal, () => (rows = written))
  const dispose = async (): Promise<void> => {
    await generator.return()
    await rm(file, { force: true })
    around.running.delete(stream)
  }
  let disposed: Promise<void> | undefined
  const stream: ByteStream = {
    rows: () => rows,
    recycle: () => {},
    [Symbol.asyncDispose]: () => (disposed ??= dispose()),
    async *[Symbol.asyncIterator]() {
      try {
        yield* generator
      } finally {
        await stream[Symbol.asyncDispose]()
      }
    },
  }
  around.running.add(stream)
  return stream
}

/** Columns get names `c0`, `c1` … which DuckDB can tell apart. Returns the number of rows. */
async function copy(
  around: Surroundings,
  { sql, parameters, columns }: Statement,
  file: string,
  options: StartOptions,
): Promise<number> {
  const names = columns.map((_, index) => `c${index}`).join(', ')
  const groupRows = Math.round(GROUP_BYTES / Math.max(options.rowBytes ?? 0, 1) / 2048) * 2048
  const cursor = await around.source.start(
    {
      sql:
        `COPY (SELECT ${names} FROM (${sql}) AS result(${names})) TO ${quoteLiteral(file)} ` +
        `(FORMAT parquet, ROW_GROUP_SIZE ${Math.min(Math.max(groupRows, 2048), GROUP_ROWS)})`,
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

async function* fileBytes(
  file: string,
  { columns }: Statement,
  signal: AbortSignal | undefined,
  atEnd: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    const tail = Buffer.alloc(8)
    await handle.read(tail, 0, 8, size - 8)
    const footerStart = size - 8 - tail.readUInt32LE(0)
    for (let at = 0; at < footerStart; ) {
      if (signal?.aborted) throw cancelled(signal)
      const { buffer, bytesRead } = await handle.read(
        Buffer.allocUnsafeSlow(Math.min(READ_BYTES, footerStart - at)),
        { position: at },
      )
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
    const footer = Buffer.alloc(size - 8 - footerStart)
    await handle.read(footer, 0, footer.length, footerStart)
    const shown = shownFooter(footer, columns)
    tail.writeUInt32LE(shown.length, 0)
    atEnd()
    yield Buffer.concat([shown, tail])
  } finally {
    await handle.close()
  }
}
