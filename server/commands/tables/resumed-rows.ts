import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, ParquetryError } from '../../client/index.ts'
import type { ExportOptions } from './tables.ts'

export type LineFormat = 'csv' | 'tsv' | 'ndjson'

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
  const same = { ...others, signal }
  const { version } = await client.datasets.get(id, { signal })
  let rows = 0
  let begun = false
  let matching: number | undefined
  for (let attempt = 1; ; ) {
    const window = rows === 0 ? { skip, top, last } : windowBehind(rows, { skip, top, last, matching })
    const cutter = new RowCutter(format)
    const again = begun
    try {
      const download = await client.datasets.download(id, format, { ...same, ...window })
      matching ??= download.rowCount
      if (again) await unchanged(client, id, version, signal)
      for await (const chunk of download) {
        const whole = cutter.take(chunk)
        // The header line is written only once.
        const body = again ? cutter.withoutHeader(whole) : whole
        if (body.length > 0) yield body
        begun ||= whole.length > 0
      }
      const rest = cutter.rest()
      if (rest.length > 0) yield rest
      return
    } catch (error) {
      if (!isBroken(error)) throw error
      if (cutter.rows > 0) attempt = 1
      else if (attempt++ >= ATTEMPTS) throw error
      rows += cutter.rows
      await sleep(Math.min(500 * 2 ** attempt, LONGEST_PAUSE_MS), undefined, { signal })
    }
  }
}

interface Window {
  readonly skip: number | undefined
  readonly top: number | undefined
  readonly last: number | undefined
}

/** The window of the rows that are still missing. */
function windowBehind(
  rows: number,
  { skip = 0, top, last, matching = 0 }: Window & { readonly matching: number | undefined },
): Window {
  if (last === undefined) {
    return { skip: skip + rows, top: top === undefined ? undefined : top - rows, last: undefined }
  }
  const first = Math.max(0, matching - last)
  return { skip: first + rows, top: Math.min(last, matching) - rows, last: undefined }
}

async function unchanged(client: Client, id: number, version: number, signal: AbortSignal): Promise<void> {
  if ((await client.datasets.get(id, { signal })).version === version) return
  throw new ParquetryError('The dataset has changed since the export began. Start it again.', {
    status: 0,
    code: 'changed',
  })
}

function isBroken(error: unknown): boolean {
  return error instanceof ParquetryError && (error.code === 'interrupted' || error.code === 'unreachable')
}

const LF = 10
const QUOTE = 34

/** Cuts a stream of csv, tsv or ndjson after complete rows, and counts them. */
export class RowCutter {
  #rows = 0
  #quoted = false
  #held: Uint8Array = new Uint8Array()
  /** Whether the header line has been seen. True from the start for ndjson, which has none. */
  #header: boolean
  readonly #quotes: boolean
  #headerEnd = 0

  constructor(format: 'csv' | 'tsv' | 'ndjson') {
    this.#quotes = format !== 'ndjson'
    this.#header = format === 'ndjson'
  }

  /** Number of complete rows returned so far, not counting the header line. */
  get rows(): number {
    return this.#rows
  }

  /** Adds a chunk. Returns the bytes up to the end of its last complete row, and keeps the rest. */
  take(chunk: Uint8Array): Uint8Array {
    let end = 0
    this.#headerEnd = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!
      // An escaped quote is two quotes, so it toggles twice.
      if (byte === QUOTE && this.#quotes) this.#quoted = !this.#quoted
      if (byte !== LF || this.#quoted) continue
      end = at + 1
      if (this.#header) this.#rows += 1
      else {
        this.#header = true
        this.#headerEnd = this.#held.length + end
      }
    }
    if (end === 0) {
      this.#held = joined(this.#held, chunk)
      return new Uint8Array()
    }
    const whole = joined(this.#held, chunk.subarray(0, end))
    this.#held = chunk.slice(end)
    return whole
  }

  /** The bytes that `take` has just returned, without the header line if it was among them. */
  withoutHeader(whole: Uint8Array): Uint8Array {
    return whole.subarray(this.#headerEnd)
  }

  /** The bytes after the last complete row; empty if the file ends with a newline. */
  rest(): Uint8Array {
    return this.#held
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  if (one.length === 0) return other
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
