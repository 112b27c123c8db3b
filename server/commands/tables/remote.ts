import { openAsBlob } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, ParquetryError } from '../../client/index.ts'
import type { ExportOptions, Tables, WriteOptions } from './tables.ts'

/** Formats that can be cut between two rows and joined again. */
const LINES = new Set<string>(['csv', 'tsv', 'ndjson'])

/**
 * The tables of a server, over HTTP. Downloads are continued after a broken connection where the format allows that.
 */
export function remoteTables(url: string, key: string): Tables {
  const client = new Client({ url, key })
  const { repositories, datasets, accounts } = client
  return {
    repositories: {
      list: async () => {
        const [{ name: own }, all] = await Promise.all([client.account.get(), repositories.list()])
        return all.map(({ private: isPrivate, permission, ...one }) => ({
          ...one,
          precedence: one.owner === own ? 0 : isPrivate || permission === 'Write' ? 1 : 2,
        }))
      },
      create: (fields) => repositories.create(fields),
      members: (id) => repositories.members(id),
      setMember: (...given) => repositories.setMember(...given),
      removeMember: (...given) => repositories.removeMember(...given),
    },
    datasets,
    accounts,
    async write(id, mode, file, options) {
      const { from, format, gzip, options: reading } = file
      const counted = new Client({ url, key, fetch: countingFetch(options) })
      // A file can be sent again after a broken connection, but a pipe can't be read a second time.
      const body = 'file' in from ? await openAsBlob(from.file) : from
      const upload = { format, gzip, body, options: reading }
      const { onProgress: _, on, ...call } = options
      return counted.datasets[mode](id, upload, { ...call, ...(on && { on }) })
    },
    async *sql(text, format, options, signal) {
      yield* await client.sql(text, format, { ...options, signal })
    },
    async *read(id, format, options, signal) {
      if (LINES.has(format)) {
        yield* resumedRows(client, id, format as LineFormat, options, signal)
        return
      }
      yield* await datasets.download(id, format, { ...options, signal })
    },
  }
}

/** A `fetch` that reports how many bytes of a body it has sent. */
function countingFetch({ onProgress }: WriteOptions): typeof fetch {
  return (input, init = {}) => {
    const { body } = init
    if (!(body instanceof Blob)) return fetch(input, init)
    let bytes = 0
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length
        onProgress({ bytes })
        controller.enqueue(chunk)
      },
    })
    return fetch(input, { ...init, body: body.stream().pipeThrough(counted), duplex: 'half' } as RequestInit)
  }
}

type LineFormat = 'csv' | 'tsv' | 'ndjson'

/** Gives up after this many failed attempts in a row without a single row. */
const ATTEMPTS = 6
const LONGEST_PAUSE_MS = 30_000

/**
 * Downloads an export, and continues it when the connection breaks by requesting the rows after the last complete one.
 * The dataset must not change meanwhile, because rows of two versions don't belong together.
 *
 * @throws ParquetryError `changed` if the dataset has changed, or the error of the server
 */
export async function* resumedRows(
  client: Client,
  id: number,
  format: LineFormat,
  { skip, top, last, ...others }: ExportOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { version } = await client.datasets.get(id, { signal })
  const read = new ReadRows(format)
  let matching: number | undefined
  for (let attempt = 1; ; ) {
    const { rows } = read
    const window = rows === 0 ? { skip, top, last } : windowAfter(rows, { skip, top, last }, matching)
    // Each answer begins with the header line, and this one with the row in which the earlier one broke off.
    let known = read.headerBytes + read.bytesOfRow
    try {
      const download = await client.datasets.download(id, format, { ...others, ...window, signal })
      matching ??= download.rowCount
      if (known > 0 && (await client.datasets.get(id, { signal })).version !== version) {
        const message = 'The dataset has changed since the export began. Start it again.'
        throw new ParquetryError(message, { status: 0, code: 'changed' })
      }
      for await (const chunk of download) {
        const added = chunk.subarray(known)
        known = Math.max(0, known - chunk.length)
        read.add(added)
        if (added.length > 0) yield added
      }
      return
    } catch (error) {
      const isBroken = error instanceof ParquetryError && ['interrupted', 'unreachable'].includes(error.code)
      if (!isBroken) throw error
      if (read.rows > rows) attempt = 1
      else if (attempt++ >= ATTEMPTS) throw error
      await sleep(Math.min(500 * 2 ** attempt, LONGEST_PAUSE_MS), undefined, { signal })
    }
  }
}

/** The window of the rows that are still missing after some have come. */
function windowAfter(
  rows: number,
  { skip = 0, top, last }: Pick<ExportOptions, 'skip' | 'top' | 'last'>,
  matching = 0,
) {
  const first = last === undefined ? skip : Math.max(0, matching - last)
  const most = last === undefined ? top : Math.min(last, matching)
  return { skip: first + rows, top: most === undefined ? undefined : most - rows }
}

const LF = 10
const QUOTE = 34

/** How far a csv, tsv or ndjson has been read. */
export class ReadRows {
  /** Complete rows, without the header line. */
  rows = 0
  /** Bytes of the header line, once it is complete. */
  headerBytes = 0
  /** Bytes behind the last complete line. */
  bytesOfRow = 0
  #header: boolean
  #quoted = false
  readonly #quotes: boolean

  constructor(format: LineFormat) {
    this.#quotes = format !== 'ndjson'
    this.#header = this.#quotes
  }

  add(chunk: Uint8Array): void {
    let start = -this.bytesOfRow
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!
      // An escaped quote is two quotes, so it toggles twice.
      if (byte === QUOTE && this.#quotes) this.#quoted = !this.#quoted
      if (byte !== LF || this.#quoted) continue
      const end = at + 1
      if (this.#header) this.headerBytes = end - start
      else this.rows += 1
      this.#header = false
      start = end
    }
    this.bytesOfRow = chunk.length - start
  }
}
