import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { basic, dataset, NO_LIMITS, type Platform, platform } from '../platform.ts'

let at: Platform
let port: number
let ann: string
let bob: string

/** Rows that are far more than sockets and memory hold: about 40 MB. */
const MANY = `SELECT a.n + b.n AS n, repeat('wide ', 8) AS word FROM open a, open b, open c, open d, open e, open f
  WHERE a.n > 0`
/** Ends long after the tests. */
const HEAVY = `SELECT count(*) AS n FROM ${Array.from({ length: 14 }, (_, at) => `open t${at}`).join(', ')}
  WHERE (t0.n * t1.n + t2.n * t3.n + t13.n) % 7 = 3`
const SMALL = 'SELECT n FROM open ORDER BY n LIMIT 2'

beforeAll(async () => {
  at = await platform({
    config: {
      timeouts: { firstByte: 600_000, stall: 600_000 },
      plans: { short: { ...NO_LIMITS, refreshSeconds: 1 } } as never,
    },
  })
  port = Number(new URL(await at.listen()).port)
  ann = await at.account('ann')
  bob = await at.account('bob')
  for (const key of [ann, bob]) {
    await dataset(at, key, { name: key === ann ? 'open' : 'of-bob' })
    expect((await at.call(key, 'POST', '/sql', small())).statusCode).toBe(200)
  }
})
afterAll(() => at[Symbol.asyncDispose]())
beforeEach(() => settled())

const small = () => ({ body: SMALL, headers: { 'content-type': 'text/plain' } })
const statements = async () => (await at.engine.stats()).statements
const settled = () => expect.poll(statements, { timeout: 60_000 }).toMatchObject({ running: 0, waiting: 0 })

/** A statement over a connection of its own, whose answer is not read. */
function start(key: string, sql: string, to = port) {
  const request = httpRequest({
    port: to,
    host: '127.0.0.1',
    path: `/sql?q=${encodeURIComponent(sql)}`,
    headers: { authorization: basic(key) },
    agent: false,
  })
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
  })
  let ended = false
  answer.then(
    () => {
      ended = true
    },
    () => {},
  )
  request.end()
  return { answer, hasEnded: () => ended, leave: () => request.destroy() }
}

async function digestOf(answer: IncomingMessage): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of answer) hash.update(chunk as Buffer)
  expect(answer.complete).toBe(true)
  return hash.digest('hex')
}

test('an account whose statements run for long does not keep those of others from running', async () => {
  const heavy = Array.from({ length: 8 }, () => start(ann, HEAVY))
  for (const { answer } of heavy) answer.catch(() => {})
  await expect.poll(statements, { timeout: 60_000 }).toMatchObject({ running: 2, waiting: 6 })
  const answers = await Promise.all([1, 2, 3].map(() => at.call(bob, 'POST', '/sql', small())))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
  expect(heavy.filter(({ hasEnded }) => hasEnded())).toEqual([])
  for (const { leave } of heavy) leave()
})

test('a slow reader gives its process back when the statement is done, and gets all of its rows', async () => {
  const whole = await digestOf(await start(ann, MANY).answer)
  const slow = Array.from({ length: 4 }, () => start(ann, MANY))
  const answers = await Promise.all(slow.map(({ answer }) => answer))
  await settled()
  expect(await spoolFiles()).toHaveLength(4)
  expect((await at.call(bob, 'POST', '/sql', small())).statusCode).toBe(200)
  for (const answer of answers.slice(1)) expect(await digestOf(answer)).toBe(whole)
  slow[0]!.leave()
  await expect.poll(spoolFiles, { timeout: 60_000 }).toEqual([])
})

test('without room for files, a slow reader still gets all rows, and others get theirs', async () => {
  await using tight = await platform({
    config: { timeouts: { firstByte: 600_000, stall: 600_000 }, limits: { spoolBytes: 0 } },
  })
  const slowPort = Number(new URL(await tight.listen()).port)
  const cat = await tight.account('cat')
  const dan = await tight.account('dan')
  await dataset(tight, cat, { name: 'open' })
  const slow = [1, 2, 3].map(() => start(cat, MANY, slowPort))
  await expect
    .poll(async () => (await tight.engine.stats()).statements, { timeout: 60_000 })
    .toMatchObject({ running: 2, waiting: 1 })
  expect((await tight.call(dan, 'POST', '/sql', small())).statusCode).toBe(200)
  const digests = await Promise.all(slow.map(async ({ answer }) => digestOf(await answer)))
  expect(new Set(digests).size).toBe(1)
})

test('stored queries are refreshed beside the statements of others, for as long as the plan allows', async () => {
  const eve = await at.account('eve', 'short')
  const repository = await at.call(eve, 'POST', '/repositories', { json: { name: 'of-eve' } })
  const made = at.call(eve, 'POST', '/datasets', {
    json: {
      name: 'heavy',
      repositoryId: repository.json().id,
      query: { sql: HEAVY },
      materialize: 'on-change',
    },
  })
  await expect.poll(statements, { timeout: 60_000 }).toMatchObject({ running: 0, background: 1 })
  expect((await at.call(bob, 'POST', '/sql', small())).statusCode).toBe(200)
  const { id } = (await made).json()
  const source = async () => (await at.call(eve, 'GET', `/datasets/${id}/source`)).json()
  await expect
    .poll(source, { timeout: 60_000 })
    .toMatchObject({ lastError: 'The statement takes more CPU time than one may.' })
})

const spoolFiles = async () =>
  (await readdir(at.engine.temporary)).filter((name) => name.startsWith('spool-'))
