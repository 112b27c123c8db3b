import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CallOptions, type Platform, platform } from '../platform.ts'

let at: Platform
beforeAll(async () => {
  at = await platform({
    config: { limits: { uploads: 2, uploadsPerAccount: 2, queue: 0, smallUploads: 400 } },
  })
})
afterAll(() => at[Symbol.asyncDispose]())

const COLUMNS = [
  { name: 'n', type: 'integer' },
  { name: 'w', type: 'string' },
]

async function table(key = at.root, fields: object = {}) {
  const name = `t${Math.random()}`
  const repository = await at.call(key, 'POST', '/repositories', { json: { name, private: true } })
  const repositoryId = repository.json().id
  const json = { name, repositoryId, columns: COLUMNS, ...fields }
  const { id } = (await at.call(key, 'POST', '/datasets', { json })).json()
  const append = (n: number, headers: Record<string, string> = {}, by = key) =>
    at.call(by, 'POST', `/datasets/${id}/data`, { json: { rows: [{ n, w: `w${n}` }] }, headers })
  const numbers = async () =>
    (await at.call(key, 'GET', `/datasets/${id}/data?$format=json&$select=n`))
      .json()
      .map(({ n }: { n: number }) => n)
  const versions = async () => (await at.call(key, 'GET', `/datasets/${id}/versions?limit=1000`)).json()
  return { id, repositoryId, append, numbers, versions }
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

test('hundreds at once are few versions, without a slot for each, and each is answered when its row is there', async () => {
  const { id, append, numbers, versions } = await table()
  const answers = await Promise.all(
    upTo(256).map(async (n) => {
      const answer = await append(n)
      expect(answer.statusCode).toBe(200)
      const { version, rowCount } = answer.json()
      if (n % 50 > 0) return rowCount
      const query = `$filter=n eq ${n}&$version=${version}&$format=json&$select=n`
      const found = await at.call(at.root, 'GET', `/datasets/${id}/data?${query}`)
      // Few versions are kept.
      if (found.statusCode !== 410) expect(found.json()).toEqual([{ n }])
      return rowCount
    }),
  )
  expect(Math.max(...answers)).toBe(256)
  expect((await numbers()).toSorted((a: number, b: number) => a - b)).toEqual(upTo(256))
  expect((await versions())[0].number).toBeLessThan(20)
})

test('of those with one Idempotency-Key one is written', async () => {
  const { append, numbers } = await table()
  const answers = await Promise.all([
    append(0),
    append(1, { 'idempotency-key': 'same' }),
    append(1, { 'idempotency-key': 'same' }),
    append(2, { 'idempotency-key': 'other' }),
  ])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
  expect((await append(3, { 'idempotency-key': 'same' })).json().code).toBe('idempotency_key_reused')
  expect((await numbers()).toSorted()).toEqual([0, 1, 2])
})

test('of those with one If-Match one is written', async () => {
  const { id, append, numbers } = await table()
  await append(0)
  const etag = (await at.call(at.root, 'GET', `/datasets/${id}`)).headers['etag'] as string
  const answers = await Promise.all([append(1, { 'if-match': etag }), append(2, { 'if-match': etag })])
  expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 412])
  expect(await numbers()).toHaveLength(2)
})

test('an answer has the entity tag of the record, and a fault in one body is an error of that request', async () => {
  const { id, append } = await table()
  const bad = (): CallOptions => ({ json: { rows: [{ n: 'x', w: 'y' }] } })
  const answers = await Promise.all([
    append(0),
    append(1),
    at.call(at.root, 'POST', `/datasets/${id}/data`, bad()),
    append(2),
  ])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 400, 200])
  expect(answers[2]!.json()).toMatchObject({ code: 'invalid_upload', row: 1, column: 'n', value: 'x' })
  const { headers } = await at.call(at.root, 'GET', `/datasets/${id}`)
  const written = answers.filter(({ statusCode }) => statusCode === 200)
  const [last] = written.toSorted((a, b) => b.json().version - a.json().version)
  expect(last!.headers['etag']).toBe(headers['etag'])
})

test('those of other accounts are versions of their own, with the author of each', async () => {
  const { repositoryId, append, numbers, versions } = await table()
  const ada = await at.account('ada')
  await at.call(at.root, 'PUT', `/repositories/${repositoryId}/members/ada`, {
    json: { permission: 'Write' },
  })
  await Promise.all(upTo(20).map((n) => append(n, {}, n % 2 === 0 ? at.root : ada)))
  expect(await numbers()).toHaveLength(20)
  const written = (await versions()).filter(({ operation }: { operation: string }) => operation === 'append')
  const rowsOf = (name: string) =>
    written
      .filter(({ by }: { by: string }) => by === name)
      .reduce((sum: number, { addedRows }: { addedRows: number }) => sum + addedRows, 0)
  expect([rowsOf('root'), rowsOf('ada')]).toEqual([10, 10])
})

test('a plan that has room for some of them refuses the others', async () => {
  const key = await at.account('small', 'free')
  const { append, numbers } = await table(key)
  await append(0)
  const plan = at.services.config.plans['free'] as { storedBytes: number | null }
  const { storedBytes } = plan
  try {
    plan.storedBytes = 1
    const answers = await Promise.all([1, 2, 3].map((n) => append(n)))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([402, 402, 402])
  } finally {
    plan.storedBytes = storedBytes
  }
  expect(await numbers()).toEqual([0])
})
