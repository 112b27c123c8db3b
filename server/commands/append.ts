import { randomUUID } from 'node:crypto'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { EngineError, uploadFormatOf } from '../../engine/index.ts'
import { CHANGE, fromPlain, UPLOADING } from '../../engine/options.ts'
import { checkOptions } from '../../engine/types/known-options.ts'
import { ParquetryError } from '../client/index.ts'
import {
  COMMIT,
  readingOf,
  STREAMED,
  type StreamedFormat,
  type Stretch,
  stretchesOf,
  textInStream,
} from '../transfers/stretches.ts'
import { type Progress, startProgress } from './progress.ts'
import { findDataset, type ImportedFile, type Tables, type Written } from './tables/tables.ts'
import { addOptions, Failed, inFlags, inRows, oneOf, UsageError } from './usage.ts'
import type { On } from './workplace.ts'

interface AppendOptions {
  readonly follow?: string
  readonly format?: string
}

export function addAppendCommand(program: Command, on: On<Tables>): void {
  const command = program
    .command('append <dataset>')
    .description(
      'append rows while they come: lines of JSON, csv or tsv from standard input, or a file that grows',
    )
    .option(
      '--follow <file>',
      'read a file from its beginning and go on as it grows or another takes its name; - is standard input',
    )
    .option('--format <format>', 'ndjson, csv or tsv; by default what the name of the file shows, or ndjson')
    .action((dataset: string, options: AppendOptions) => on((tables) => append(tables, dataset, options)))
  addOptions(command, { ...UPLOADING, ...CHANGE, ...COMMIT })
}

async function append(tables: Tables, dataset: string, options: AppendOptions): Promise<void> {
  const { follow: file = '-' } = options
  const format = formatOf(file, options.format)
  const { commit = '1s' } = fromPlain(options, COMMIT)
  checkOptions({ commit }, COMMIT)
  const { id } = await findDataset(tables, dataset)
  const { uploadOptions } = await tables.datasets.get(id)
  const given = fromPlain(options, UPLOADING)
  const { columns: _, missing: __, ...reading } = given
  const read = readingOf(uploadOptions, { format, options: reading })
  using stop = stopOnInterrupt()
  const { signal } = stop
  using appended = new Appended(
    tables,
    id,
    { format, gzip: false, options: given },
    fromPlain(options, CHANGE).note,
  )
  for await (const input of inputs(file, signal)) {
    for await (const stretch of stretchesOf(input, { format, options: read, commit, signal }))
      await appended.add(stretch, signal)
  }
  appended.tell()
}

function formatOf(file: string, given: string | undefined): StreamedFormat {
  if (given !== undefined) return oneOf('--format', STREAMED, given)
  const named = uploadFormatOf(file)
  const format = named ? STREAMED.find((one) => one === named.format && !named.gzip) : 'ndjson'
  if (format) return format
  throw new UsageError(
    `${file}: rows are read while they come from ${STREAMED.join(', ')}, not from ${named?.format}.`,
  )
}

/** A signal for Ctrl-C, or SIGTERM, after which no more is read; a second one ends the program. */
function stopOnInterrupt(): Disposable & { readonly signal: AbortSignal } {
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const name of signals) process.once(name, stop)
  return {
    signal: stopped.signal,
    [Symbol.dispose]() {
      for (const name of signals) process.off(name, stop)
    },
  }
}

/** How long to try to send rows again: a server knows their `Idempotency-Key` for a day. */
const LONGEST_MS = 20 * 3_600_000
const LONGEST_PAUSE_MS = 30_000
/** Statuses, 0 without an answer, after which a request with an `Idempotency-Key` may be sent again. */
const AGAIN: readonly number[] = [0, 429, 502, 503, 504]

type ReadFile = Omit<ImportedFile, 'from'>

/** Saves rows of one stream, and says how many. */
class Appended implements Disposable {
  readonly #tables: Tables
  readonly #id: number
  readonly #file: ReadFile
  readonly #note: string | undefined
  readonly #started = performance.now()
  readonly #progress: Progress = startProgress('append', null)
  #rows = 0
  #written: Written | undefined

  constructor(tables: Tables, id: number, file: ReadFile, note: string | undefined) {
    this.#tables = tables
    this.#id = id
    this.#file = file
    this.#note = note
  }

  /** @throws Failed with the row, as it is numbered in its file, and how many rows were saved */
  async add(stretch: Stretch, signal: AbortSignal): Promise<void> {
    try {
      this.#written = await this.#write(stretch, signal)
    } catch (error) {
      if (!(error instanceof EngineError || error instanceof ParquetryError)) throw error
      const text = textInStream(inFlags(error), stretch.before)
      throw new Failed(`${text} ${this.#saved}`)
    }
    this.#rows += stretch.rows
    const seconds = (performance.now() - this.#started) / 1000
    this.#progress.note(
      `${inRows(this.#rows)}  ${Math.round(this.#rows / seconds).toLocaleString('en')} rows/s`,
    )
  }

  /** Sends rows until a server says what has become of them. With one key they are saved once, however often that is. */
  async #write({ bytes }: Stretch, signal: AbortSignal): Promise<Written> {
    const idempotencyKey = randomUUID()
    const options = { on: undefined, note: this.#note, idempotencyKey, onProgress: () => undefined }
    const started = performance.now()
    for (let pause = 500; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await this.#tables.write(this.#id, 'append', { ...this.#file, from: bytes }, options)
      } catch (error) {
        const mayChange = error instanceof ParquetryError && AGAIN.includes(error.status)
        const isOver = signal.aborted || performance.now() - started > LONGEST_MS
        if (!mayChange || error.code === 'invalid_option' || isOver) throw error
        this.#progress.note(error.message)
        // After the signal it is tried once more.
        await sleep(pause, undefined, { signal }).catch(() => {})
      }
    }
  }

  tell(): void {
    this[Symbol.dispose]()
    const version = this.#written === undefined ? '' : `, version ${this.#written.version}`
    console.log(`dataset ${this.#id}: appended ${inRows(this.#rows)}${version}`)
  }

  get #saved(): string {
    return this.#rows === 0 ? 'Nothing was saved.' : `Only the first ${inRows(this.#rows)} were saved.`
  }

  [Symbol.dispose](): void {
    this.#progress[Symbol.dispose]()
  }
}

/** What is read, one after the other: standard input, or each file that has the name. */
async function* inputs(file: string, signal: AbortSignal): AsyncGenerator<AsyncIterable<Uint8Array>> {
  if (file === '-') {
    yield untilStopped(signal)
    return
  }
  if (!(await stat(file).catch(() => undefined))) throw new UsageError(`There is no file ${file}.`)
  while (!signal.aborted) {
    await using handle = await open(file).catch(() => undefined)
    if (handle) yield bytesOf(handle, file, signal)
    else await pause(signal)
  }
}

async function* untilStopped(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { stdin } = process
  signal.addEventListener('abort', () => stdin.destroy(), { once: true })
  try {
    yield* stdin
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

const PIECE_BYTES = 256 * 1024
const POLL_MS = 250

/** Reads a file as it grows, until it is cut or another one has its name and all of it was read. */
async function* bytesOf(handle: FileHandle, file: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let position = 0
  for (let isReplaced = false; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, position)
    position += bytesRead
    if (bytesRead > 0) yield buffer.subarray(0, bytesRead)
    else if (isReplaced || signal.aborted) return
    else {
      const [own, named] = [await handle.stat(), await stat(file).catch(() => undefined)]
      if (own.size < position) return
      // The last lines may have been written before it was replaced.
      isReplaced = named !== undefined && named.ino !== own.ino
      if (!isReplaced) await pause(signal)
    }
  }
}

/** Waits a moment, or until the signal. */
async function pause(signal: AbortSignal): Promise<void> {
  await sleep(POLL_MS, undefined, { signal }).catch(() => {})
}
