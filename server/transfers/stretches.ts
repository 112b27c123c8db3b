import { setTimeout as sleep } from 'node:timers/promises'
import { hint, invalidOption } from '../../engine/errors.ts'
import { type DatasetRecord, EngineError, type UploadOptions } from '../../engine/index.ts'
import { RecordEnds } from '../../engine/ingest/csv/record-ends.ts'
import { badRow, malformed, type UploadFault, withDetails } from '../../engine/ingest/text/errors.ts'
import type { OptionTable } from '../../engine/options.ts'
import { withStored } from '../../engine/store/upload-options.ts'

/** When rows that come are committed. */
export const COMMIT = {
  commit: {
    http: 'commit',
    kind: 'text',
    pattern: /^(?:[1-9]\d{0,5}|[1-9]s|[1-5]\ds)$/,
    inProse: 'a number of rows, as 1000, or of seconds up to 59, as 5s',
    about: 'Commits rows while they come, at the latest after so many rows, as `1000`, or seconds, as `5s`.',
    example: '5s',
  },
} as const satisfies OptionTable

/** The formats of which a beginning can be read while the rest has not come. */
export const STREAMED = ['ndjson', 'csv', 'tsv'] as const
export type StreamedFormat = (typeof STREAMED)[number]

/** Rows that follow each other in a stream, as an upload of their own: csv with the header of the stream. */
export interface Stretch {
  readonly bytes: Buffer<ArrayBuffer>
  readonly rows: number
  /** How many rows and bytes of the stream are before them. */
  readonly before: { readonly rows: number; readonly bytes: number }
}

export interface StretchOptions {
  readonly format: StreamedFormat
  /** How the stream is read. */
  readonly options?: UploadOptions | undefined
  /** The value of `COMMIT`. */
  readonly commit: string
  /** Once it is aborted, a last row without a line end is left out: it may be cut off. */
  readonly signal?: AbortSignal
}

/**
 * How a stream is read: as the dataset's last upload was, where `upload` does not say otherwise.
 * @throws EngineError `invalid_option` where that needs a whole file
 */
export function readingOf(
  stored: DatasetRecord['uploadOptions'],
  upload: Parameters<typeof withStored>[1],
): UploadOptions | undefined {
  const options = withStored(stored, upload)
  const { footer = 0, encoding = 'utf-8' } = options ?? {}
  if (upload.options?.dialect === 'auto')
    throw invalidOption(`${hint('dialect=auto')} needs a whole file; name the options instead.`, 'dialect')
  if (footer > 0)
    throw invalidOption(`The end of a stream is not known: it needs ${hint('footer=0')}.`, 'footer')
  if (encoding !== 'utf-8')
    throw invalidOption(`A stream is UTF-8: it needs ${hint('encoding=utf-8')}.`, 'encoding')
  return options
}

/** The most bytes of a stretch, and of a row: one request needs at most about three times as much memory. */
const MOST_BYTES = 2 * 2 ** 20
const [LF, BLANKS] = [0x0a, [0x20, 0x09, 0x0d, 0x0a]]

/**
 * Cuts a stream between rows. Each stretch ends when it has as many rows or is as old as `commit` says, or has 2 MiB.
 * Nothing more is read than the next piece while the last stretch is worked on.
 * @throws EngineError `invalid_upload` where a row is longer than 2 MiB, and what the stream throws
 */
export async function* stretchesOf(
  stream: AsyncIterable<Uint8Array>,
  { signal, ...given }: StretchOptions,
): AsyncGenerator<Stretch, void, undefined> {
  const rows = new Rows(given)
  const pieces = stream[Symbol.asyncIterator]()
  try {
    for (let coming = pieces.next(); ; ) {
      const next = await within(coming, rows.milliseconds)
      if (next?.done) break
      if (next) {
        coming = pieces.next()
        // Who waits for it gets its failure.
        coming.catch(() => {})
        for (let at = 0; at < next.value.length; ) {
          at = rows.add(next.value, at)
          if (rows.isDue) yield rows.take()
        }
      } else yield rows.take()
    }
    if (!signal?.aborted) rows.end()
    if (rows.count > 0) yield rows.take()
  } finally {
    // Not waited for: the stream may be waiting itself.
    pieces.return?.()?.catch(() => {})
  }
}

/** What a promise gives, or undefined if that takes longer. */
async function within<T>(coming: Promise<T>, milliseconds: number | undefined): Promise<T | undefined> {
  if (milliseconds === undefined) return coming
  const timer = new AbortController()
  try {
    return await Promise.race([coming, sleep(milliseconds, undefined, { signal: timer.signal })])
  } finally {
    timer.abort()
  }
}

/** Bytes in pieces. */
class Pieces {
  bytes = 0
  #pieces: Uint8Array[] = []

  add(piece: Uint8Array): void {
    if (piece.length === 0) return
    this.bytes += piece.length
    this.#pieces.push(piece)
    // Small ones would need more memory than their bytes.
    if (this.#pieces.length > 1_000) this.#pieces = [Buffer.concat(this.#pieces)]
  }

  take(): Buffer {
    const all = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.bytes = 0
    return all
  }
}

/** Collects rows until they are due. */
class Rows {
  /** Whole rows. */
  count = 0
  /** What was in earlier stretches. */
  #before = { rows: 0, bytes: 0 }
  /** When the first row of the stretch came. */
  #since = 0
  /** What every stretch begins with. */
  #head: Buffer = Buffer.alloc(0)
  /** How many lines above the header are still to come, and with the header. */
  #skip: number
  #headLines: number
  /** Of csv, how many fields its first record has. */
  #width = 0
  #isBlank = true
  readonly #whole = new Pieces()
  /** The beginning of a row. */
  readonly #open = new Pieces()
  readonly #ends: RecordEnds | undefined
  readonly #mostRows: number
  readonly #longest: number | undefined

  constructor({ format, options = {}, commit }: Omit<StretchOptions, 'signal'>) {
    const isText = format !== 'ndjson'
    for (const option of ['quotes', 'escape'] as const) {
      if (!isText || options[option] === undefined) continue
      throw invalidOption(
        `${hint(`${option}=`)} is for whole files: rows that are committed while they come are quoted as csv has it.`,
        option,
      )
    }
    if (isText) this.#ends = new RecordEnds(options.delimiter ?? (format === 'tsv' ? '\t' : ','))
    this.#skip = isText ? (options.skip ?? 0) : 0
    this.#headLines = this.#skip + (isText && options.header !== 'absent' ? (options.headerRows ?? 1) : 0)
    const isTime = commit.endsWith('s')
    this.#mostRows = isTime ? Number.POSITIVE_INFINITY : Number(commit)
    this.#longest = isTime ? 1_000 * Number.parseInt(commit, 10) : undefined
  }

  /** After how many milliseconds the rows are due if no others come before; undefined if they are not. */
  get milliseconds(): number | undefined {
    if (this.count === 0 || this.#longest === undefined) return undefined
    return Math.max(0, this.#since + this.#longest - performance.now())
  }

  get isDue(): boolean {
    return this.#isFull || this.milliseconds === 0
  }

  get #isFull(): boolean {
    return this.count >= this.#mostRows || (this.count > 0 && this.#whole.bytes >= MOST_BYTES)
  }

  /** Takes a piece, from a position on, until the stretch is full. Gives the position behind what was taken. */
  add(piece: Uint8Array, from: number): number {
    let [start, at] = [from, from]
    while (!this.#isFull) {
      const end = this.#rowEnd(piece, at)
      if (end < 0) break
      at = end
      if (this.#open.bytes > 0) this.#whole.add(this.#open.take())
      if (this.#headLines === 0) this.#endRow()
      else if (--this.#headLines === 0) {
        this.#whole.add(piece.subarray(start, at))
        this.#head = this.#whole.take()
        start = at
      }
    }
    this.#whole.add(piece.subarray(start, at))
    if (this.#isFull) return at
    this.#open.add(piece.subarray(at))
    if (this.#open.bytes > MOST_BYTES) throw this.#tooLong()
    return piece.length
  }

  /** Where the row under way ends, or the line above the header; -1 if that is not in the piece. */
  #rowEnd(piece: Uint8Array, from: number): number {
    if (this.#ends && this.#skip === 0) {
      const end = this.#ends.find(piece, from)
      if (end > 0) this.#width ||= this.#ends.fields
      return end
    }
    const end = piece.indexOf(LF, from) + 1
    const line = piece.subarray(from, end || undefined)
    this.#isBlank &&= line.every((byte) => BLANKS.includes(byte))
    if (end > 0 && this.#skip > 0) this.#skip--
    return end || -1
  }

  /** Takes what is left at the end of the stream: a row without a line end. */
  end(): void {
    const isRow = this.#open.bytes > 0 && this.#headLines === 0
    this.#whole.add(this.#open.take())
    if (isRow) this.#endRow()
  }

  #endRow(): void {
    // In a table of one column, an empty line is a row.
    if (this.#ends) this.#isBlank = this.#ends.isBlank && this.#width > 1
    if (!this.#isBlank && this.count++ === 0) this.#since = performance.now()
    this.#isBlank = true
  }

  take(): Stretch {
    const [rows, before] = [this.count, this.#before]
    this.#before = { rows: before.rows + rows, bytes: before.bytes + this.#whole.bytes }
    this.count = 0
    return { bytes: Buffer.concat([this.#head, this.#whole.take()]), rows, before }
  }

  #tooLong(): EngineError {
    const what = `is longer than ${MOST_BYTES >> 20} MiB, the most in a stream`
    if (this.#headLines > 0) return malformed(`The header ${what}.`)
    return badRow(this.#before.rows + this.count + 1, ` ${what}.`)
  }
}

/** An error of a stretch, with the row as it is numbered in the stream. */
export function inStream(error: unknown, { before }: Stretch): unknown {
  if (!(error instanceof EngineError)) return error
  const { message, details: given } = error.marked
  const { row, position, errors } = (given ?? {}) as {
    readonly row?: number
    readonly position?: number
    readonly errors?: readonly UploadFault[]
  }
  const details = {
    ...(row !== undefined && { row: row + before.rows }),
    ...(position !== undefined && { position: position + before.bytes }),
    ...(errors && { errors: errors.map((one) => faultInStream(one, before)) }),
  }
  return withDetails(error, details, textInStream(message, before))
}

function faultInStream({ row, error, ...others }: UploadFault, before: Stretch['before']): UploadFault {
  const moved = { ...others, error: textInStream(error, before) }
  return row === undefined ? moved : { row: row + before.rows, ...moved }
}

/** The message of an error of rows with their numbers in the stream. It begins with where they are: `Row 3, byte 57: …`, `Rows 2 and 5 …`. */
export function textInStream(text: string, { rows, bytes }: Stretch['before']): string {
  const moved = (by: number) => (number: string) => String(Number(number) + by)
  return text
    .replace(/^Rows? [\d and]+/, (where) => where.replace(/\d+/g, moved(rows)))
    .replace(/^(Row \d+, byte )(\d+)/, (_, where, byte) => where + moved(bytes)(byte))
}
