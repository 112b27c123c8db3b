import type { Ask } from './ask.ts'
import { LINES_PER_ORDER, PARTS } from './lineitem.ts'
import { IDS, signed } from './ours.ts'
import type { Dialect } from './server.ts'

/** A question as each server that can answer it expects it; some servers need more than one request for it. */
export interface Question {
  readonly name: string
  /** The number of requests in a round, sent one after the other. The processor time is their mean. */
  readonly batch: number
  /** Whether it is asked over fifty connections as well. */
  readonly burst?: boolean
  /** The number of rows that each server must answer with. */
  readonly rows?: number
  /**
   * The n-th form of the question: if the question has a value that varies, each n has another value. `server` is the
   * name of the server that is asked.
   */
  readonly asks: Partial<Record<Dialect, (n: number, server: string) => readonly Ask[]>>
}

/** A prime: its multiples, taken modulo a table's size, are spread over the whole table and repeat late. */
const STRIDE = 1_000_003

/** After this question, the memory of the servers is measured; larger answers follow. */
export const LAST_SMALL_READ = '$orderby descending, a page of 10'

/**
 * All questions about a lineitem table of `rows` rows; `etags` are the ETags of our answers to `WINDOW`, by server
 * name.
 */
export function questions(rows: number, etags: Readonly<Record<string, string>>): Question[] {
  const order = (n: number) => ((n * STRIDE) % (rows / LINES_PER_ORDER)) + 1
  const part = (n: number) => ((n * STRIDE) % PARTS) + 1
  const skip = Math.floor((rows * 5) / 6 / 100_000) * 100_000
  const million = Math.min(1_000_000, rows / 2)
  const point = (value: (n: number) => number): Question['asks'] => ({
    ours: (n) => [ours({ $filter: `l_orderkey eq ${value(n)}`, $top: 5 })],
    datapress: (n) => [query({ predicates: [equals('l_orderkey', value(n))], page_size: 5 })],
    ...inSql((n) => [`SELECT * FROM lineitem WHERE l_orderkey = ${value(n)} LIMIT 5`]),
  })
  const window = (from: number): Question['asks'] => {
    const page = (n: number) => from / 100 + (n % 1_000)
    return {
      ours: (n) => [ours({ $skip: page(n) * 100, $top: 100 })],
      datapress: (n) => [query({ page: page(n) + 1, page_size: 100 })],
      ...inSql((n) => [`SELECT * FROM lineitem LIMIT 100 OFFSET ${page(n) * 100}`]),
    }
  }
  return [
    { name: 'point read, sorted column, value varies', batch: 40, burst: true, rows: 4, asks: point(order) },
    { name: 'the same point read again', batch: 40, burst: true, rows: 4, asks: point(() => 4_711) },
    {
      name: 'unsorted equality, value varies, with count',
      batch: 10,
      burst: true,
      asks: {
        ours: (n) => [ours({ $filter: `l_partkey eq ${part(n)}`, $top: 5 })],
        datapress: (n) => [
          query({ predicates: [equals('l_partkey', part(n))], page_size: 5 }),
          post('/count', { predicates: [equals('l_partkey', part(n))] }),
        ],
        ...inSql((n) => [
          `SELECT * FROM lineitem WHERE l_partkey = ${part(n)} LIMIT 5`,
          `SELECT count(*) FROM lineitem WHERE l_partkey = ${part(n)}`,
        ]),
      },
    },
    {
      name: 'all of a table of two rows',
      batch: 400,
      burst: true,
      rows: 2,
      asks: {
        ours: () => [signed(`/datasets/${IDS.tiny}/data?$format=json`)],
        datapress: () => [{ ...query({ page_size: 5 }), path: '/api/v1/datasets/tiny/query' }],
        ...inSql(() => ['SELECT * FROM tiny']),
      },
    },
    { name: '$top=100, $skip varies from 0 on', batch: 40, rows: 100, asks: window(0) },
    { name: `$top=100, $skip varies from ${skip} on`, batch: 40, rows: 100, asks: window(skip) },
    {
      name: LAST_SMALL_READ,
      batch: 10,
      rows: 10,
      asks: {
        ours: (n) => [ours({ $orderby: 'l_extendedprice desc', $skip: (n % 100) * 10, $top: 10 })],
        datapress: (n) => [
          query({
            order_by: [{ col: 'l_extendedprice', dir: 'desc' }],
            page: (n % 100) + 1,
            page_size: 10,
          }),
        ],
        ...inSql((n) => [
          `SELECT * FROM lineitem ORDER BY l_extendedprice DESC LIMIT 10 OFFSET ${(n % 100) * 10}`,
        ]),
      },
    },
    {
      name: 'the answer is known (304)',
      batch: 1_000,
      asks: { ours: (_, server) => [notModified(etags[server]!)] },
    },
    { name: 'metadata of a dataset', batch: 1_000, asks: { ours: () => [signed(`/datasets/${IDS.tiny}`)] } },
    { name: 'health', batch: 1_000, asks: { ours: () => [{ method: 'GET', path: '/healthz' }] } },
    {
      name: `arrow, ${million} rows`,
      batch: 1,
      asks: {
        ours: () => [ours({ $format: 'arrow', $top: million })],
        datapress: () => [query({ page_size: million }, { accept: ARROW })],
        roapi: () => [sql(`SELECT * FROM lineitem LIMIT ${million}`, { accept: ARROW })],
        // In the form of DuckDB, which is near Arrow's.
        quack: () => [{ ...quack(`SELECT * FROM lineitem LIMIT ${million}`), path: '/count' }],
      },
    },
    {
      name: `parquet, ${million} rows`,
      batch: 1,
      asks: {
        ours: () => [ours({ $format: 'parquet', $top: million })],
        roapi: () => [sql(`SELECT * FROM lineitem LIMIT ${million}`, { accept: 'application/parquet' })],
      },
    },
    {
      name: `json with gzip, ${million} rows`,
      batch: 1,
      asks: {
        ours: () => [ours({ $top: million }, { 'accept-encoding': 'gzip' })],
        datapress: () => [query({ page_size: million }, { 'accept-encoding': 'gzip' })],
      },
    },
  ]
}

/** The question that is also asked with an ETag, so that the server answers that nothing has changed. */
export const WINDOW = ours({ $top: 100 })

function notModified(etag: string): Ask {
  return { ...WINDOW, headers: { ...WINDOW.headers, 'if-none-match': etag } }
}

const ARROW = 'application/vnd.apache.arrow.stream'

function ours(options: Record<string, string | number>, headers?: Record<string, string>): Ask {
  const parameters = Object.entries({ $format: 'json', ...options })
  const search = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return signed(`/datasets/${IDS.lineitem}/data?${search}`, headers)
}

function query(body: object, headers: Record<string, string> = {}): Ask {
  return post('/query', body, headers)
}

function post(path: string, body: object, headers: Record<string, string> = {}): Ask {
  return {
    method: 'POST',
    path: `/api/v1/datasets/lineitem${path}`,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

function equals(col: string, val: number): object {
  return { col, op: 'eq', val }
}

/** The same statements for all who are asked in SQL. */
function inSql(texts: (n: number) => readonly string[]): Question['asks'] {
  return { roapi: (n) => texts(n).map((text) => sql(text)), quack: (n) => texts(n).map(quack) }
}

function quack(text: string): Ask {
  return { method: 'POST', path: '/', body: text }
}

function sql(text: string, headers: Record<string, string> = {}): Ask {
  return { method: 'POST', path: '/api/sql', headers, body: text }
}
