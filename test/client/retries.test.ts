import { afterEach, beforeEach, expect, test } from 'vitest'
import { retryAfter } from '../../server/client/errors.ts'
import { Client, ParquetryError } from '../../server/client/index.ts'
import { retryDelay } from '../../server/client/transport.ts'
import { type Reply, startUpstream, type Upstream } from '../connectors/support/upstream.ts'

let server: Upstream
let client: Client

beforeEach(async () => {
  server = await startUpstream()
  client = new Client({ url: server.url, key: 'secret' })
})
afterEach(() => server.close())

/** Answers these, one by one, and then 200. */
function answers(...replies: Reply[]): void {
  server.routes = { '*': () => replies.shift() ?? { body: { id: 1 } } }
}

const busy: Reply = { status: 503, headers: { 'retry-after': '0' }, body: { error: 'Busy.', code: 'busy' } }
const down: Reply = { ...busy, body: { error: 'No database.', code: 'locked' } }
const spent: Reply = { ...busy, status: 429, body: { error: 'Spent.', code: 'provider_limit' } }
const cut: Reply = { raw: (response) => response.destroy() }

test.each([
  ['GET', () => client.datasets.get(1)],
  ['PUT', () => client.datasets.replace(1, { rows: [] })],
  ['DELETE', () => client.datasets.delete(1)],
])('a %s is sent again after 503, 429 and when no answer came', async (_, call) => {
  answers(busy, spent, cut)
  await call()
  expect(server.requests).toHaveLength(4)
})

test('an append with an idempotencyKey is sent again with the same key when no answer came', async () => {
  answers(cut, down)
  await client.datasets.append(1, { rows: [[1]] }, { idempotencyKey: 'one' })
  expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(3).fill('one'))
})

test('a POST is sent again when the server did not begin with it', async () => {
  answers(busy, busy)
  await client.datasets.append(1, { rows: [[1]] })
  expect(server.requests.map((request) => request.body)).toEqual(Array(3).fill('{"rows":[[1]]}'))
})

test.each([
  ['503 for another reason', down],
  ['503 of a proxy', { status: 503 }],
  ['no answer', cut],
])('a POST is not sent again after %s', async (_, reply) => {
  answers(reply)
  await expect(client.datasets.append(1, { rows: [[1]] })).rejects.toThrow(ParquetryError)
  expect(server.requests).toHaveLength(1)
})

test('a stream is not sent again', async () => {
  answers(busy)
  const body = new Blob(['a\n']).stream()
  await expect(client.datasets.replace(1, { format: 'csv', body })).rejects.toMatchObject({ code: 'busy' })
  expect(server.requests).toHaveLength(1)
})

test.each([400, 401, 402, 403, 404, 409, 413, 500, 504])('%i is final', async (status) => {
  answers({ status, body: { error: 'No.', code: 'no' } })
  await expect(client.datasets.get(1)).rejects.toMatchObject({ status, code: 'no' })
  expect(server.requests).toHaveLength(1)
})

test('attempts are bounded, and the last error is what is thrown', async () => {
  answers(busy, busy, spent, busy)
  const patient = new Client({ url: server.url, retry: { attempts: 3 } })
  await expect(patient.datasets.get(1)).rejects.toMatchObject({ code: 'provider_limit' })
  expect(server.requests).toHaveLength(3)
})

test('a longer wait than one is ready for is not begun', async () => {
  answers({ ...spent, headers: { 'retry-after': '3600' } })
  await expect(client.providers.get('bls')).rejects.toMatchObject({ retryAfter: 3600 })
  expect(server.requests).toHaveLength(1)
})

test('an aborted signal ends the wait between attempts', async () => {
  answers({ ...busy, headers: { 'retry-after': '30' } })
  const reason = new Error('enough')
  const abort = new AbortController()
  setTimeout(() => abort.abort(reason), 30)
  await expect(client.datasets.get(1, { signal: abort.signal })).rejects.toBe(reason)
})

test('waits grow, differ, and are never shorter than the server asked', () => {
  const error = (after?: number) => new ParquetryError('', { status: 503, code: 'busy', retryAfter: after })
  const delays = (attempt: number, after?: number) =>
    Array.from({ length: 200 }, () => retryDelay(error(after), attempt, {}, { attempts: 10 })!)
  for (const [attempt, longest] of [
    [1, 0.25],
    [2, 0.5],
    [5, 4],
  ] as const) {
    const all = delays(attempt)
    expect(Math.min(...all)).toBeGreaterThanOrEqual(longest / 2)
    expect(Math.max(...all)).toBeLessThanOrEqual(longest)
    expect(new Set(all).size).toBeGreaterThan(100)
  }
  expect(Math.min(...delays(1, 7))).toBeGreaterThanOrEqual(7)
})

test('Retry-After is a number of seconds or a date', () => {
  const now = Date.parse('2026-11-21T10:00:00Z')
  expect(retryAfter('12', now)).toBe(12)
  expect(retryAfter('Sat, 21 Nov 2026 10:00:30 GMT', now)).toBe(30)
  expect(retryAfter('Sat, 21 Nov 2026 09:00:00 GMT', now)).toBe(0)
  expect(retryAfter('soon', now)).toBeUndefined()
  expect(retryAfter(null, now)).toBeUndefined()
})
