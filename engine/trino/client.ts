import { setTimeout as wait } from 'node:timers/promises'
import { Arena, type Batch, type LaidValue, vectorOf } from '../duckdb/batch.ts'
import { EngineError } from '../errors.ts'
import { daysOf } from '../filter/syntax/calendar.ts'
import { type ColumnType, decimalParts, entryOf, typeName } from '../types/index.ts'

/** The most bytes of an answer, unpacked. All of it is in memory at once. */
const MOST_BYTES = 256 << 20

/** States of a query that has not begun. */
const WAITING: ReadonlySet<string> = new Set(['QUEUED', 'WAITING_FOR_RESOURCES'])

type Rows = readonly (readonly unknown[])[]

/** A page of Trino's protocol (https://trino.io/docs/current/develop/client-protocol.html). */
interface Page {
  readonly nextUri?: string
  readonly stats?: { readonly state?: string }
  readonly columns?: unknown
  readonly data?: Rows
  readonly error?: TrinoError
}

export interface AnswerOptions {
  readonly types: readonly ColumnType[]
  /** With more rows, or too many bytes, the query is ended. @throws TrinoFailure `many` */
  readonly maxRows: number
  readonly signal?: AbortSignal | undefined
}

/** How long a statement may take to be accepted, and a query to begin: a Trino that hangs costs no more than that. */
const BEGIN_MS = 3_000
/** How long a request for a page may take. Trino answers each within about a second, even if nothing has happened yet. */
const PAGE_MS = 5_000
/** How often a request is made again while Trino or a proxy before it says that it is busy. */
const TRIES = 5
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504])
const PAUSE_MS = 100

/** Asks a Trino. An answer is given when all of it is there, so there is never half of one. */
export class TrinoClient {
  readonly #origin: string
  readonly #headers: Readonly<Record<string, string>>
  /** Requests that nobody waits for. */
  readonly #background = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  readonly #maxBytes: number

  /**
   * @param url `http://user:password@host:port/catalog`
   * @param maxBytes the most bytes of an answer
   */
  constructor(url: string, maxBytes: number = MOST_BYTES) {
    const { origin, pathname, username, password } = new URL(url)
    const user = decodeURIComponent(username) || 'parquetry'
    this.#maxBytes = maxBytes
    this.#origin = origin
    this.#headers = {
      'x-trino-user': user,
      'x-trino-source': 'parquetry',
      'x-trino-catalog': decodeURIComponent(pathname.slice(1)),
      'x-trino-time-zone': 'UTC',
      // Without it, times are rounded to milliseconds.
      'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
      ...(password !== '' && {
        authorization: `Basic ${Buffer.from(`${user}:${decodeURIComponent(password)}`).toString('base64')}`,
      }),
    }
  }

  /**
   * Runs SQL and gives its rows. When the signal is aborted, the query is ended in Trino as well.
   * @throws TrinoFailure, or whatever else made it fail
   */
  async answer(sql: string, { types, maxRows, signal }: AnswerOptions): Promise<Batch[]> {
    const ending = this.#closing.signal
    const pages: Rows[] = []
    let rows = 0
    let answered = false
    const began = performance.now()
    for await (const page of this.#pages(sql, signal ? AbortSignal.any([signal, ending]) : ending)) {
      if (page.error) throw failureOf(page.error)
      if (WAITING.has(page.stats?.state ?? '') && performance.now() - began > BEGIN_MS) {
        throw new TrinoFailure('busy', `the query is still ${page.stats!.state}`)
      }
      answered ||= page.columns !== undefined || page.data !== undefined
      if (!page.data) continue
      if (!Array.isArray(page.data)) throw new TrinoFailure('broken', 'the data of an answer are no rows')
      pages.push(page.data)
      rows += page.data.length
      if (rows > maxRows) throw new TrinoFailure('many', `more than ${maxRows} rows`)
    }
    // Even an answer without rows has columns.
    if (!answered) throw new TrinoFailure('broken', 'the query ended without an answer')
    return batchesOf(pages.flat(), types)
  }

  /** The pages of an answer. Unless all are taken, the query is ended in Trino. */
  async *#pages(sql: string, signal: AbortSignal): AsyncGenerator<Page, void, undefined> {
    let bytes = 0
    const read = async (uri: string, init: RequestInit, milliseconds: number): Promise<Page> => {
      const text = await (await this.#send(uri, init, milliseconds, signal)).text()
      bytes += text.length
      if (bytes > this.#maxBytes) throw new TrinoFailure('many', `more than ${this.#maxBytes} bytes`)
      const json: unknown = JSON.parse(text)
      if (typeof json === 'object' && json !== null) return json
      throw new TrinoFailure('broken', 'an answer is no object')
    }
    let next: string | undefined
    try {
      const init = { method: 'POST', headers: this.#headers, body: sql }
      let page = await read(`${this.#origin}/v1/statement`, init, BEGIN_MS)
      for (;;) {
        next = page.nextUri
        yield page
        if (next === undefined) return
        page = await read(next, { headers: this.#headersFor(next) }, PAGE_MS)
      }
    } finally {
      if (next !== undefined) this.#cancel(next)
    }
  }

  /** Ends a query, whatever becomes of the signal. */
  #cancel(uri: string): void {
    const init = { method: 'DELETE', headers: this.#headersFor(uri), signal: AbortSignal.timeout(PAGE_MS) }
    const cancelling = fetch(uri, init)
      .then((answer) => answer.body?.cancel())
      // Trino ends queries that nobody follows by itself.
      .catch(() => {})
      .finally(() => this.#background.delete(cancelling))
    this.#background.add(cancelling)
  }

  /** A password goes to the configured address only. */
  #headersFor(uri: string): Readonly<Record<string, string>> {
    return URL.canParse(uri) && new URL(uri).origin === this.#origin ? this.#headers : {}
  }

  async #send(uri: string, init: RequestInit, milliseconds: number, ending: AbortSignal): Promise<Response> {
    const late = AbortSignal.timeout(milliseconds)
    for (let tried = 1; ; tried++) {
      const signal = AbortSignal.any([ending, late])
      const answer = await fetch(uri, { ...init, signal, redirect: 'error' })
      if (answer.ok) return answer
      await answer.body?.cancel()
      if (!BUSY.has(answer.status) || tried === TRIES) {
        const kind = BUSY.has(answer.status) ? 'busy' : 'broken'
        throw new TrinoFailure(kind, `status ${answer.status} from ${new URL(uri).origin}`)
      }
      await wait(PAUSE_MS * 2 ** (tried - 1), undefined, { signal: ending })
    }
  }

  /** Ends everything under way. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#background)
  }
}

/**
 * Why Trino gave no answer: a value in the data (`values`), too much work (`busy`), a limit of time (`late`), more rows
 * than are taken from it (`many`), or anything else.
 */
export type FailureKind = 'values' | 'busy' | 'late' | 'many' | 'broken'

/** Trino gave no answer. The message is for the log. */
export class TrinoFailure extends Error {
  override readonly name = 'TrinoFailure'
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** What Trino says of a query that failed. */
export interface TrinoError {
  readonly errorName?: string
  readonly errorType?: string
  readonly message?: string
}

const VALUES: ReadonlySet<string> = new Set([
  'DIVISION_BY_ZERO',
  'NUMERIC_VALUE_OUT_OF_RANGE',
  'INVALID_CAST_ARGUMENT',
  'INVALID_FUNCTION_ARGUMENT',
  // Our own SQL raised it.
  'GENERIC_USER_ERROR',
])
const LATE: ReadonlySet<string> = new Set(['EXCEEDED_TIME_LIMIT', 'EXCEEDED_CPU_LIMIT', 'ABANDONED_QUERY'])

export function failureOf({ errorName = '', errorType = '', message = '' }: TrinoError): TrinoFailure {
  const kind = VALUES.has(errorName)
    ? 'values'
    : LATE.has(errorName)
      ? 'late'
      : errorType === 'INSUFFICIENT_RESOURCES'
        ? 'busy'
        : 'broken'
  return new TrinoFailure(kind, `${errorName}: ${message}`)
}

const SENTENCES: Readonly<
  Record<FailureKind, readonly ['filter_failed' | 'overloaded' | 'timeout', string]>
> = {
  values: ['filter_failed', 'fails on a row: it divides by zero, or a result is too large for its type.'],
  late: ['timeout', 'The query takes longer than it may.'],
  busy: ['overloaded', 'The cluster that answers large questions has too much work now. Try again later.'],
  many: [
    'overloaded',
    'The answer has too many rows for the time that is left. Try again, or ask for fewer.',
  ],
  broken: ['overloaded', 'The cluster that answers large questions failed. Try again later.'],
}

/**
 * A failure for users, where nobody else can answer.
 * @param fallible what may have failed on a value of the data, as the beginning of a sentence
 */
export function shownFailure(failure: unknown, fallible = 'The query'): EngineError {
  const kind = failure instanceof TrinoFailure ? failure.kind : 'broken'
  const [code, sentence] = SENTENCES[kind]
  return new EngineError(code, kind === 'values' ? `${fallible} ${sentence}` : sentence, { cause: failure })
}

/** How many rows a batch has: as many as DuckDB puts into a chunk. */
const BATCH_ROWS = 2048

const MICROS_PER_DAY = 86_400_000_000n

/**
 * Rows as Trino writes them in JSON, as batches.
 * @throws TypeError where a value is not one of its column's type
 */
function batchesOf(rows: readonly (readonly unknown[])[], types: readonly ColumnType[]): Batch[] {
  const batches: Batch[] = []
  for (let from = 0; from < rows.length; from += BATCH_ROWS) {
    const some = rows.slice(from, from + BATCH_ROWS)
    if (some.some((row) => row.length !== types.length)) throw new TypeError('a row has other columns')
    const arena = new Arena('kept')
    arena.begin()
    const vectors = types.map((type, column) => {
      const read = valueReader(type)
      const values = some.map((row) => (row[column] === null ? null : read(row[column])))
      return vectorOf(values, entryOf(type).layout, arena)
    })
    batches.push({ rows: some.length, vectors })
  }
  return batches
}

function valueReader(type: ColumnType): (value: unknown) => LaidValue {
  const name = typeName(type)
  switch (name) {
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? value : wrong(value, type))
    case 'integer':
      return (value) => digits(value, /^-?\d{1,19}$/, type)
    case 'double':
      return (value) => {
        const number = typeof value === 'string' && NOT_FINITE.has(value) ? Number(value) : value
        return typeof number === 'number' ? number : wrong(value, type)
      }
    case 'decimal': {
      const { scale } = decimalParts(type)!
      // Trino writes all digits of the scale, so that without the point they are the number in its smallest unit.
      const form = new RegExp(scale === 0 ? '^-?\\d+$' : `^-?\\d*\\.\\d{${scale}}$`)
      return (value) => digits(value, form, type)
    }
    case 'string':
    case 'json':
    case 'uuid':
      return (value) => (typeof value === 'string' ? Buffer.from(value) : wrong(value, type))
    case 'binary':
      return (value) => (typeof value === 'string' ? Buffer.from(value, 'base64') : wrong(value, type))
    case 'date':
      return (value) => days(matched(value, DATE, type))
    case 'time':
      return (value) => micros(matched(value, TIME, type))
    case 'timestamp':
    case 'timestamptz':
      return (value) => {
        const [, date, time, zone] = matched(value, name === 'timestamp' ? TIMESTAMP : INSTANT, type)
        const [day, clock] = [matched(date, DATE, type), matched(time, TIME, type)]
        return zone === undefined || zone === 'UTC'
          ? BigInt(days(day)) * MICROS_PER_DAY + micros(clock)
          : wrong(value, type)
      }
    default:
      return name satisfies never
  }
}

const NOT_FINITE: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity'])
/** Years have four digits, or more and a sign. */
const DATE = /^([+-]?\d{4,})-(\d\d)-(\d\d)$/
const TIME = /^(\d\d):(\d\d):(\d\d)\.(\d{6})$/
const TIMESTAMP = /^(\S+) (\S+)$/
const INSTANT = /^(\S+) (\S+) (\S+)$/

function digits(value: unknown, form: RegExp, type: ColumnType): bigint {
  return BigInt(matched(value, form, type)[0].replace('.', ''))
}

function days([, year, month, day]: RegExpExecArray): number {
  return daysOf(Number(year), Number(month), Number(day))
}

function micros([, hour, minute, second, fraction]: RegExpExecArray): bigint {
  return BigInt(((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000_000 + Number(fraction))
}

function matched(value: unknown, form: RegExp, type: ColumnType): RegExpExecArray {
  return (typeof value === 'string' ? form.exec(value) : null) ?? wrong(value, type)
}

function wrong(value: unknown, type: ColumnType): never {
  throw new TypeError(`${JSON.stringify(value)} is no ${type}`)
}
