import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { ERROR_TABLE } from '../../server/http/errors.ts'
import { LONG } from '../long.ts'
import { type Served, serveProcess } from '../server/process.ts'
import { armWith, buildShim, type Call, callsIn, type Rule } from './shim.ts'

/** How many points are tried; PARQUETRY_FAULT_POINTS says otherwise. */
const POINTS = Number(process.env['PARQUETRY_FAULT_POINTS'] ?? (LONG ? 1_000 : 24))
/** Points that are left out first, so that a long run can be done in pieces. */
const FROM = Number(process.env['PARQUETRY_FAULT_FROM'] ?? 0)
const PRIME = 7_919
const MOST_ATTEMPTS = 100
const KEY = 'a-key-for-these-tests'
const HEADERS = { authorization: `Bearer ${KEY}` }
const CALLS: readonly Call[] = [
  ...[
    'open',
    'read',
    'pread',
    'write',
    'pwrite',
    'fsync',
    'fdatasync',
    'ftruncate',
    'rename',
    'mmap',
    'mkdir',
  ],
] as Call[]
const ERRORS = ['EIO', 'EMFILE', 'ENOSPC', 'EACCES', 'HALF'] as const
/** Calls that may do half of what they are asked for. */
const BY_HALVES: readonly Call[] = ['write', 'pwrite', 'read', 'pread']

const shim = buildShim()
const folder = mkdtempSync(join(tmpdir(), 'parquetry-answers-'))
const [arm, log, data] = ['arm', 'log', 'data'].map((name) => join(folder, name)) as [string, string, string]

let server: Served | undefined
async function start(): Promise<Served> {
  const environment = { ...shim!.environment(arm, log), PARQUETRY_ROOT_KEY: KEY, PARQUETRY_LOG_LEVEL: 'warn' }
  return serveProcess({ data, environment })
}
async function restart(): Promise<void> {
  await server!.stop()
  server = await start()
}
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  shim?.[Symbol.dispose]()
  rmSync(folder, { recursive: true, force: true })
})

interface Answer {
  readonly status: number
  readonly code: string | undefined
  readonly text: string
}

/** As a client asks: again where the server, on a machine that does much else, has no time now. */
async function ask(...request: Parameters<typeof askOnce>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await askOnce(...request)
    if (answer.code !== 'busy' || attempt === MOST_ATTEMPTS) return answer
    await delay(200)
  }
}

async function askOnce(method: string, path: string, type?: string, body?: string): Promise<Answer> {
  const response = await fetch(`${server!.url}${path}`, {
    method,
    headers: { ...HEADERS, ...(type && { 'content-type': type }) },
    ...(body !== undefined && { body }),
  })
  // A download that fails on its way ends without its last chunk.
  const text = await response.text().catch(() => 'cut off')
  const code = response.ok ? undefined : (JSON.parse(text) as { code: string }).code
  return { status: response.status, code: text === 'cut off' ? 'cut_off' : code, text }
}

const csv = (rows: number) =>
  `a,b\n${Array.from({ length: rows }, (_, n) => `${n},text ${n % 97}`).join('\n')}\n`
let unique = 0

/** What is asked while a call fails, and how many rows the dataset has if it was done. */
const QUESTIONS = {
  replace: (rows: number) => ({
    ask: () => ask('PUT', '/datasets/1/data', 'text/csv', csv(rows + 7)),
    after: rows + 7,
  }),
  'replace with much': () => ({
    ask: () => ask('PUT', '/datasets/1/data', 'text/csv', csv(60_000)),
    after: 60_000,
  }),
  append: (rows: number) => ({
    ask: () => ask('POST', '/datasets/1/data', 'application/x-ndjson', '{"a":1,"b":"x"}\n'),
    after: rows + 1,
  }),
  rename: (rows: number) => ({
    ask: () => ask('PUT', '/datasets/1', 'application/json', JSON.stringify({ description: `${++unique}` })),
    after: rows,
  }),
  upsert: (rows: number) => ({
    ask: () =>
      ask('POST', '/datasets/1/data?mode=upsert&on=a', 'application/x-ndjson', `{"a":2,"b":"${++unique}"}\n`),
    after: rows,
  }),
  edit: (rows: number) => ({
    ask: () =>
      ask(
        'PATCH',
        '/datasets/1/data?$filter=a eq 3',
        'application/json',
        JSON.stringify({ b: `${++unique}` }),
      ),
    after: rows,
  }),
  // No other row has this number, and no row is deleted twice.
  delete: (rows: number) => ({
    ask: () => ask('DELETE', `/datasets/1/data?$filter=a eq ${100 + ++unique}`),
    after: rows - 1,
  }),
  restore: (rows: number) => ({
    ask: async () => {
      const versions = await ask('GET', '/datasets/1/versions?limit=1')
      if (versions.status !== 200) return versions
      const [{ number }] = JSON.parse(versions.text) as [{ number: number }]
      return ask('POST', '/datasets/1/restore', 'application/json', JSON.stringify({ version: number }))
    },
    after: rows,
  }),
  copy: (rows: number) => ({
    ask: () => {
      const body = JSON.stringify({ repositoryId: 1, name: `copy ${++unique}` })
      return ask('POST', '/datasets/1/copy', 'application/json', body)
    },
    after: rows,
  }),
  ...Object.fromEntries(
    [
      '$filter=a ge -§',
      '$orderby=b,a&$skip=§',
      '$format=parquet&$top=§',
      '$format=xlsx&$top=§',
      '$format=json',
    ].map((query) => [
      query,
      (rows: number) => ({
        ask: () => ask('GET', `/datasets/1/data?${query.replace('§', String(++unique))}`),
        after: rows,
      }),
    ]),
  ),
} as Record<string, (rows: number) => { ask: () => Promise<Answer>; after: number }>

/** The number of rows, or what is answered instead. */
async function rowCount(): Promise<number | string> {
  const query = '$format=json&$apply=aggregate(a with countdistinct as d,$count as n)'
  const { status, text } = await ask('GET', `/datasets/1/data?${query}`)
  return status === 200 ? (JSON.parse(text) as { n: number }[])[0]!.n : text
}

describe.runIf(shim)('each system call on the files of a server fails once', () => {
  test(
    `and every answer has a code that says so, nothing is lost and nothing is called damaged (${POINTS} points)`,
    async () => {
      server = await start()
      const made = (path: string, body: object) => ask('POST', path, 'application/json', JSON.stringify(body))
      expect(await made('/repositories', { name: 'r' })).toMatchObject({ status: 201 })
      expect(await made('/datasets', { name: 'd', repositoryId: 1 })).toMatchObject({ status: 201 })
      const points: { question: string; rule: Rule }[] = []
      const path = `${folder}/data/*`
      let rows = 3_000
      expect(await ask('PUT', '/datasets/1/data', 'text/csv', csv(rows))).toMatchObject({ status: 200 })
      for (const [question, of] of Object.entries(QUESTIONS)) {
        rmSync(log, { force: true })
        armWith(arm, [{ calls: CALLS, nth: 1e9, error: 'EIO', mode: 'once', path }])
        const { ask, after } = of(rows)
        expect(await ask()).toMatchObject({ status: question === 'copy' ? 201 : 200 })
        rmSync(arm)
        rows = after
        for (const call of CALLS) {
          const times = callsIn(log).filter((seen) => seen.call === call && seen.path.startsWith(data)).length
          for (let nth = 1; nth <= times; nth++) {
            for (const error of ERRORS) {
              if (error === 'HALF' && !BY_HALVES.includes(call)) continue
              points.push({ question, rule: { calls: [call], nth, error, mode: 'once', path } })
            }
          }
        }
      }
      expect(points.length).toBeGreaterThan(500)
      const found: string[] = []
      const codes: Record<string, number> = {}
      for (let n = 0; n < Math.min(POINTS, points.length); n++) {
        const point = points[((FROM + n) * PRIME) % points.length]!
        const blame = (what: string) => {
          found.push(`${JSON.stringify(point)}: ${what}`)
          if (LONG) console.log(found.at(-1))
        }
        // New parts, so that nothing is known of them.
        if (n % 5 === 0) {
          rows = 3_000 + n
          const fresh = () => ask('PUT', '/datasets/1/data', 'text/csv', csv(rows))
          // A write in the background may have been the one that failed.
          if ((await fresh()).code === 'writes_stopped') await restart()
          const { status, text } = await fresh()
          if (status !== 200) {
            blame(`before it, ${text}`)
            await restart()
            expect(await fresh()).toMatchObject({ status: 200 })
          }
        }
        const { ask: question, after } = QUESTIONS[point.question]!(rows)
        armWith(arm, [point.rule])
        const answer = await question()
        rmSync(arm)
        const code = answer.code ?? 'done'
        codes[code] = (codes[code] ?? 0) + 1
        if (code !== 'done' && code !== 'cut_off' && !ERROR_TABLE.has(code)) blame(`unknown code ${code}`)
        if (['internal', 'storage_damaged'].includes(code))
          blame(`${code}: ${server!.said().out.split('\n').at(-2)}`)
        if (['outcome_unknown', 'writes_stopped', 'storage_full'].includes(code)) {
          await restart()
        }
        const now = await rowCount()
        const may = code === 'done' ? [after] : [rows, after]
        if (typeof now === 'string') blame(`${code}, and afterwards ${now}`)
        else if (!may.includes(now)) blame(`${code}: ${now} rows, not ${may.join(' or ')}`)
        rows = Number(now)
        if (LONG && n % 50 === 49)
          console.log(`${n + 1} points of ${points.length}, ${found.length} findings`, codes)
      }
      expect(found).toEqual([])
    },
    60_000 + POINTS * 5_000,
  )
})
