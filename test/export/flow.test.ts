import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EngineError } from '../../engine/errors.ts'
import { FORMATS, type Format } from '../../engine/types/index.ts'
import { bytesOf, openTestExecutor, statement, type TestExecutor, textOf } from './support.ts'

const MANY = statement(`SELECT i, 'row ' || i FROM range(2000000) t(i)`, { n: 'integer', text: 'string' })
/** Works for minutes and finds nothing. */
const SLOW = statement('SELECT i FROM range(1000000000000) t(i) WHERE hash(i) = 0', { n: 'integer' })
/** Gives rows at once, and fails after many. */
const FAILING = statement(
  `SELECT CASE WHEN i < 1500000 THEN i ELSE CAST('no number ' || i AS BIGINT) END FROM range(2000000) t(i)`,
  { n: 'integer' },
)
/** How many exports are broken off; PARQUETRY_BROKEN_OFF=1000 for a long run. */
const BROKEN_OFF = Number(process.env['PARQUETRY_BROKEN_OFF'] ?? 42)
const UNDER_WAY = { exports: 0, statements: 0, encoding: 0 }

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error) => error,
  )
}

describe.each([{ steady: false }, { steady: true }])('steady: $steady', ({ steady }) => {
  let executor: TestExecutor
  beforeAll(async () => {
    const made = await openTestExecutor()
    const bytes = made.bytes.bind(made)
    // Steady queries are fetched by the workers in turns.
    executor = Object.assign(made, {
      bytes: ((query, format, options) => bytes(query, format, { steady, ...options })) as typeof bytes,
    })
  })
  afterAll(() => executor.close())

  it('keeps the order of rows, however many threads encode', async () => {
    const text = await textOf(executor, { ...MANY, sql: `${MANY.sql} LIMIT 400000` }, 'csv')
    const expected = ['n,text', ...Array.from({ length: 400_000 }, (_, i) => `${i},row ${i}`), '']
    expect(text === expected.join('\n')).toBe(true)
  })

  it.each([
    ['short rows', { ...MANY, sql: `${MANY.sql} LIMIT 400000` }],
    ['long rows', statement(`SELECT repeat(md5(i::VARCHAR), 40) FROM range(20000) t(i)`, { text: 'string' })],
  ])('gives the same bytes where their memory is given back as soon as they are used: %s', async (_, query) => {
    const used = createHash('sha256')
    const stream = await executor.bytes(query, 'csv')
    for await (const bytes of stream) {
      used.update(bytes)
      stream.recycle(bytes)
    }
    const kept = createHash('sha256').update(await textOf(executor, query, 'csv'))
    expect(used.digest('hex')).toBe(kept.digest('hex'))
  })

  it('counts the rows that were handed out', async () => {
    const stream = await executor.bytes(MANY, 'csv')
    const iterator = stream[Symbol.asyncIterator]()
    expect(stream.rows()).toBe(0)
    await iterator.next()
    await iterator.next()
    expect(stream.rows()).toBeGreaterThan(0)
    expect(stream.rows()).toBeLessThan(2_000_000)
    await stream[Symbol.asyncDispose]()
    expect(executor.stats()).toMatchObject(UNDER_WAY)
  })

  it('binds parameters as text', async () => {
    const sql = 'SELECT CAST($2 AS BIGINT) + 1, $1'
    const query = statement(sql, { n: 'integer', text: 'string' }, [`it's "é", 😀`, '41'])
    expect(await executor.rows(query)).toEqual([[42, `it's "é", 😀`]])
  })

  it('interrupts a query within a moment when the signal aborts', async () => {
    for (const format of ['csv', 'parquet'] as const) {
      const abort = new AbortController()
      setTimeout(() => abort.abort(), 50)
      const error = await rejection(executor.bytes(SLOW, format, { signal: abort.signal }))
      expect(error).toMatchObject({ code: 'cancelled' })
    }
    const abort = new AbortController()
    setTimeout(() => abort.abort(new EngineError('timeout', 'Too slow.')), 50)
    expect(await rejection(executor.rows(SLOW, { signal: abort.signal }))).toMatchObject({ code: 'timeout' })
    expect(executor.stats()).toMatchObject(UNDER_WAY)
  })

  it('rejects at once where the signal is aborted already', async () => {
    const signal = AbortSignal.abort()
    expect(await rejection(executor.bytes(MANY, 'csv', { signal }))).toMatchObject({ code: 'cancelled' })
    expect(await rejection(executor.rows(MANY, { signal }))).toMatchObject({ code: 'cancelled' })
    expect(executor.stats()).toMatchObject(UNDER_WAY)
  })

  it('ends a stream in the middle with the error of the query', async () => {
    const stream = await executor.bytes(FAILING, 'csv')
    let bytes = 0
    const error = await rejection(
      (async () => {
        for await (const piece of stream) bytes += piece.length
      })(),
    )
    expect(bytes).toBeGreaterThan(0)
    expect(String(error)).toMatch(/no number/)
    expect(error).not.toBeInstanceOf(EngineError)
    expect(executor.stats()).toMatchObject(UNDER_WAY)
  })

  it('rejects SQL that is wrong, and results that are not what was declared', async () => {
    expect(
      String(await rejection(textOf(executor, statement('SELECT nothing', { a: 'string' }), 'csv'))),
    ).toMatch(/nothing/)
    const wrong = statement('SELECT 1::INTEGER', { one: 'integer' })
    expect(String(await rejection(textOf(executor, wrong, 'csv')))).toMatch(/'one' is declared integer/)
    const many = statement('SELECT 1::BIGINT, 2::BIGINT', { one: 'integer' })
    expect(String(await rejection(executor.rows(many)))).toMatch(
      /returns 2 columns where 1|same number of result columns/,
    )
    expect(executor.stats()).toMatchObject(UNDER_WAY)
  })

  it('reads and writes nothing outside its directories, and can not be told otherwise', async () => {
    for (const sql of [
      `SELECT content FROM read_text('/etc/hostname')`,
      `COPY (SELECT 'x') TO '${executor.directory}-outside.csv'`,
      `SET enable_external_access = true`,
      `INSTALL httpfs`,
      `ATTACH '/tmp/elsewhere.db'`,
    ]) {
      expect(await rejection(executor.rows(statement(sql, { a: 'string' }))), sql).toBeInstanceOf(Error)
    }
  })

  it('frees everything of exports that were broken off anywhere', { timeout: 600_000 }, async () => {
    const handles = () => readdirSync('/proc/self/fd').length
    const breakOff = async (run: number) => {
      const abort = new AbortController()
      const format: Format = FORMATS[run % FORMATS.length]!
      if (run % 2 === 0) setTimeout(() => abort.abort(), Math.random() * 40)
      let left = run % 2 === 0 ? Number.POSITIVE_INFINITY : Math.floor(Math.random() * 8)
      const error = await rejection(
        (async () => {
          for await (const _ of await executor.bytes(MANY, format, { signal: abort.signal }))
            if (left-- === 0) break
        })(),
      )
      if (error) expect(error).toMatchObject({ code: 'cancelled' })
    }
    await Promise.all(Array.from({ length: 7 }, (_, run) => breakOff(run)))
    const before = process.platform === 'linux' ? handles() : 0
    for (let run = 0; run < BROKEN_OFF; run += 7) {
      await Promise.all(Array.from({ length: 7 }, (_, n) => breakOff(run + n)))
    }
    expect(executor.stats()).toMatchObject(UNDER_WAY)
    if (process.platform === 'linux') expect(handles()).toBeLessThanOrEqual(before + 2)
    expect(await executor.engineMemory()).toBeLessThan(32 << 20)
    expect(readdirSync(`${executor.directory}/tmp`)).toEqual([])
  })

  it('ends what is just being started when it is closed', async () => {
    for (let round = 0; round < 6; round++) {
      const made = await openTestExecutor()
      const starting = Array.from({ length: 4 }, () => rejection(made.bytes(MANY, 'csv', { steady })))
      for (let turn = 0; turn < round; turn++) await nextTurn()
      await made.close()
      for (const error of await Promise.all(starting)) {
        if (error !== undefined) expect(error).toMatchObject({ code: 'cancelled' })
      }
      expect(made.stats()).toMatchObject(UNDER_WAY)
    }
  })

  it('ends what is under way when it is closed', async () => {
    const another = await openTestExecutor()
    const stream = await another.bytes(MANY, 'csv')
    const slow = rejection(another.rows(SLOW))
    await sleep(20)
    await another.close()
    expect(await slow).toMatchObject({ code: 'cancelled' })
    expect(await rejection(stream[Symbol.asyncIterator]().next())).toMatchObject({ code: 'cancelled' })
    expect(await rejection(bytesOf(another, MANY, 'csv'))).toMatchObject({ code: 'cancelled' })
  })
})

describe('a reader that stalls', () => {
  const WIDE = statement(`SELECT i, repeat('x', 1800) || i FROM range(1000000) t(i)`, {
    n: 'integer',
    text: 'string',
  })

  it('has little waiting for it, and holds up nobody', { timeout: 60_000 }, async () => {
    const executor = await openTestExecutor()
    try {
      await textOf(executor, { ...WIDE, sql: `${WIDE.sql} LIMIT 50000` }, 'csv')
      const streams = []
      for (let i = 0; i < 10; i++) {
        const stream = await executor.bytes(WIDE, 'csv', { rowBytes: 1810 })
        await stream[Symbol.asyncIterator]().next()
        streams.push(stream)
      }
      // Time in which nothing may pile up.
      await sleep(500)
      expect(executor.stats()).toMatchObject({ exports: 10, statements: 10, encoding: 0 })
      expect(await executor.engineMemory()).toBeLessThan(128 << 20)
      expect((await textOf(executor, MANY, 'csv')).length).toBeGreaterThan(1e6)
      await Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()))
      expect(executor.stats()).toMatchObject(UNDER_WAY)
    } finally {
      await executor.close()
    }
  })

  it('reads on where it stopped', async () => {
    const executor = await openTestExecutor()
    try {
      const pieces: Uint8Array[] = []
      for await (const piece of await executor.bytes(MANY, 'ndjson', { rowBytes: 20 })) {
        if (pieces.length < 5) await sleep(60)
        pieces.push(piece)
      }
      const lines = Buffer.concat(pieces).toString().trimEnd().split('\n')
      expect(lines.length).toBe(2_000_000)
      expect(JSON.parse(lines.at(-1)!)).toEqual({ n: 1_999_999, text: 'row 1999999' })
    } finally {
      await executor.close()
    }
  })
})
