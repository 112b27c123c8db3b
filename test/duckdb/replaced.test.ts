import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DuckDb } from '../../engine/duckdb/native/ffi.ts'
import { type Executor, openExecutor } from '../../engine/export/index.ts'
import { type EngineEvent, openEngine } from '../../engine/index.ts'

/** As DuckDB says it; here our door to it says so, while DuckDB itself is well. */
const INTERNAL = 'INTERNAL Error: made by a test'
const REFUSED = 'FATAL Error: Failed: database has been invalidated because of a previous fatal error.'

const root = mkdtempSync(join(tmpdir(), 'parquetry-replaced-'))
const inside = join(root, 'inside')
let executor: Executor
const replaced = vi.fn<(error: unknown) => void>()
const [open, close] = [vi.spyOn(DuckDb.prototype, 'open'), vi.spyOn(DuckDb.prototype, 'close')]
beforeEach(async () => {
  executor = await openExecutor({
    tempDirectory: inside,
    allowedDirectories: [inside],
    threads: 2,
    workers: 1,
    onReplaced: replaced,
  })
  vi.clearAllMocks()
})
afterEach(async () => {
  await executor.close()
  fails.mockReset()
})
afterAll(() => {
  vi.restoreAllMocks()
  rmSync(root, { recursive: true })
})

type Call = 'query' | 'prepare' | 'execute' | 'fetch'
/** The calls with which a statement begins. */
const STARTS: ReadonlySet<Call> = new Set(['query', 'prepare'])
/** Gives what the next calls of a statement fail with. */
const fails = vi.fn<(call: Call, sql?: string) => string | undefined>()
for (const call of ['query', 'prepare', 'execute', 'fetch'] as const) {
  const real = DuckDb.prototype[call] as (...given: unknown[]) => Promise<unknown>
  vi.spyOn(DuckDb.prototype, call as 'fetch').mockImplementation(async function (this: DuckDb, ...given) {
    const message = fails(call, STARTS.has(call) ? String((given as unknown[])[1]) : undefined)
    if (message !== undefined) throw new Error(message)
    return real.apply(this, given) as Promise<bigint | undefined>
  })
}
/** Lets one call fail. */
function failOnce(of: Call | 'start', message = INTERNAL): void {
  fails.mockImplementation((call) => {
    if (call !== of && !(of === 'start' && STARTS.has(call))) return undefined
    fails.mockImplementation(() => undefined)
    return message
  })
}

const NUMBERS = 'SELECT range AS n FROM range(1000000)'
const statement = (sql = 'SELECT 7::BIGINT AS n', light = false) => ({
  sql,
  parameters: [],
  columns: [{ name: 'n', type: 'integer' }] as const,
  light,
})

describe.each([
  ['the main instance', false],
  ['that of light statements', true],
])('%s', (_, light) => {
  test.each([
    ['query', INTERNAL],
    ['prepare', INTERNAL],
    ['execute', INTERNAL],
    ['query', REFUSED],
  ] as const)('is replaced after an internal error (%s: %s), and the statement runs again', async (call, text) => {
    await executor.rows(statement(undefined, light))
    vi.clearAllMocks()
    failOnce(call, text)
    const bound = { ...statement('SELECT CAST($1 AS BIGINT) AS n', light), parameters: ['7'] }
    expect(await executor.rows(call === 'query' ? statement(undefined, light) : bound)).toEqual([[7]])
    expect(replaced.mock.calls).toEqual([[expect.objectContaining({ message: text })]])
    expect([open.mock.calls.length, close.mock.calls.length]).toEqual([1, 1])
    expect(await executor.rows(statement(undefined, light))).toEqual([[7]])
    expect(open).toHaveBeenCalledTimes(1)
  })
})

test('a statement that fails so again gives its error, and others run', async () => {
  fails.mockImplementation((call, sql) => (call === 'query' && sql?.includes('bad') ? INTERNAL : undefined))
  await expect(executor.rows(statement("SELECT 'bad'"))).rejects.toThrow(INTERNAL)
  expect(replaced).toHaveBeenCalledTimes(2)
  expect(await executor.rows(statement())).toEqual([[7]])
})

test('other errors replace nothing', async () => {
  await expect(executor.rows(statement('SELECT 1 / x'))).rejects.toThrow('Binder Error')
  await expect(executor.rows(statement("SELECT error('INTERNAL Error')"))).rejects.toThrow('Invalid Input')
  expect(replaced).not.toHaveBeenCalled()
  expect(open).not.toHaveBeenCalled()
})

test('a stream whose instance fails after the first rows ends with the error, and the next runs', async () => {
  const values = executor.values(statement(NUMBERS))
  expect((await values.next()).done).toBe(false)
  failOnce('fetch')
  await expect(Array.fromAsync(values)).rejects.toThrow(INTERNAL)
  expect(replaced).toHaveBeenCalledTimes(1)
  expect(await executor.rows(statement())).toEqual([[7]])
  expect(executor.stats()).toMatchObject({ statements: 0 })
})

test('bytes whose instance fails on the way end with the error', async () => {
  const stream = await executor.bytes(statement(`${NUMBERS} WHERE n % 2 = 0`), 'csv')
  failOnce('fetch')
  await expect(Array.fromAsync(stream)).rejects.toThrow(INTERNAL)
  await stream[Symbol.asyncDispose]()
  expect(replaced).toHaveBeenCalledTimes(1)
})

test('a stream that runs meanwhile comes to its end on the old instance, which closes then', async () => {
  const running = executor.values(statement(NUMBERS))
  const first = await running.next()
  failOnce('start')
  expect(await executor.rows(statement())).toEqual([[7]])
  expect([open.mock.calls.length, close.mock.calls.length]).toEqual([1, 0])
  let rows = first.done ? 0 : [...first.value].length
  for await (const some of running) rows += [...some].length
  expect(rows).toBe(1_000_000)
  expect(close).toHaveBeenCalledTimes(1)
})

test('statements that fail together have one instance opened for all', async () => {
  let failing = 5
  fails.mockImplementation((call) => (call === 'query' && failing-- > 0 ? INTERNAL : undefined))
  const results = await Promise.all(Array.from({ length: 5 }, () => executor.rows(statement())))
  expect(results).toEqual(Array.from({ length: 5 }, () => [[7]]))
  expect(replaced).toHaveBeenCalledTimes(1)
  expect(open).toHaveBeenCalledTimes(1)
})

test('the new instance writes Parquet, spills to a folder of its own, and reads nothing else', async () => {
  failOnce('start')
  const stream = await executor.bytes(statement(), 'parquet')
  expect(
    Buffer.concat(await Array.fromAsync(stream))
      .subarray(0, 4)
      .toString(),
  ).toBe('PAR1')
  const setting = { ...statement("SELECT current_setting('temp_directory') AS n") }
  const [[folder]] = (await executor.rows({ ...setting, columns: [{ name: 'n', type: 'string' }] })) as [
    [string],
  ]
  expect(folder).toBe(join(inside, '1'))
  const read = executor.rows(statement(`SELECT 1::BIGINT FROM read_csv('${join(root, 'outside.csv')}')`))
  await expect(read).rejects.toThrow(/disabled by configuration|not allowed/)
})

test('closing closes every instance', async () => {
  const running = executor.values(statement(NUMBERS))
  await running.next()
  failOnce('start')
  await executor.rows(statement())
  await executor.rows(statement(undefined, true))
  await executor.close()
  expect([open.mock.calls.length, close.mock.calls.length]).toEqual([2, 3])
})

test('the engine tells the event, and answers', async () => {
  const events: EngineEvent[] = []
  await using engine = await openEngine({
    directory: join(root, 'data'),
    threads: 1,
    workers: 1,
    onEvent: (event) => events.push(event),
  })
  const relation = engine.relation([{ name: 'n', type: 'integer' }], [[1], [2]])
  failOnce('start')
  using query = relation.query({ filter: 'n gt 1' })
  expect(await Array.fromAsync(query.rows())).toEqual([{ n: 2 }])
  expect(events).toMatchObject([{ kind: 'duckdb_replaced', level: 'error', cause: { message: INTERNAL } }])
  expect((await engine.stats()).events).toMatchObject({ duckdb_replaced: 1 })
})
