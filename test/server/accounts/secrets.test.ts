import { randomBytes } from 'node:crypto'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../../../server/config/read.ts'
import { IS_CLUSTER } from '../../cluster/elsewhere.ts'
import { startUpstream, type Upstream } from '../../connectors/support/upstream.ts'
import { basic } from '../platform.ts'
import { runCommand, type Served, serveProcess } from '../process.ts'
import { chattyProvider } from './chatty.ts'

const planted: Record<string, string> = {}

/** A text that is nowhere but where it is put. */
function canary(name: string): string {
  planted[name] = `canary-${randomBytes(12).toString('hex')}`
  return planted[name]
}

/** Real secrets, and what somebody tried as a key: these are in no answer either. */
const root = canary('key of root, from the environment')
const secret = canary('secret that encrypts, from the environment')
const serviceKey = canary('key for a provider, from the environment')
const filedKey = canary('key for a provider, from the configuration file')
const savedKey = canary('key for a provider that a user saved')
const refusedKey = canary('key for a provider that it refused')
/** Made by the service, and so of its shape. */
const accountKeys: string[] = []

/** How a secret may look elsewhere than in its own words. */
const disguises = (text: string) => [
  text,
  encodeURIComponent(text),
  Buffer.from(text).toString('base64').slice(0, -4),
  Buffer.from(`${text}:`).toString('base64').slice(0, -4),
]

/** The names of those that a text holds. */
function found(text: string, except: readonly string[] = []): string[] {
  const all = { ...planted, ...Object.fromEntries(accountKeys.map((key, n) => [`API key ${n}`, key])) }
  return Object.entries(all)
    .filter(([, value]) => !except.includes(value) && disguises(value).some((one) => text.includes(one)))
    .map(([name]) => name)
}

interface Answer {
  readonly asked: string
  readonly status: number
  readonly headers: string
  readonly body: string
}

let folder: string
let data: string
let upstream: Upstream
let server: Served
const answers: Answer[] = []
/** By what was asked. */
let statuses: Record<string, number>

type Extra = { key?: string; headers?: Record<string, string>; body?: string; type?: string }

async function ask(method: string, path: string, { key, headers, body, type }: Extra = {}): Promise<Answer> {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      ...(key !== undefined && { authorization: basic(key) }),
      ...(body !== undefined && { 'content-type': type ?? 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
  const answer = {
    asked: `${method} ${path}`,
    status: response.status,
    headers: JSON.stringify([...response.headers]),
    body: await response.text(),
  }
  answers.push(answer)
  return answer
}

/** Bytes that no HTTP client would send; gives what comes back. */
function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname, () => socket.end(text))
  let came = ''
  socket.on('data', (bytes) => (came += bytes))
  return new Promise((resolve) => socket.once('close', () => resolve(came)))
}

const environment = () => ({
  PARQUETRY_ROOT_KEY: root,
  PARQUETRY_SECRET: secret,
  PARQUETRY_PROVIDER_FRED_KEY: serviceKey,
  PARQUETRY_CONFIG: join(folder, 'config.json'),
})

async function account(name: string, plan: string): Promise<string> {
  const made = await runCommand(['--data', data, 'account', 'create', name, '--plan', plan], environment())
  expect(made).toMatchObject({ code: 0, err: '' })
  accountKeys.push(made.out.trim())
  return made.out.trim()
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parquetry-secrets-'))
  data = join(folder, 'data')
  upstream = await startUpstream({ '*': chattyProvider(refusedKey) })
  const settings = {
    logLevel: 'trace',
    timeouts: { provider: 300, stall: 1_000 },
    limits: { uploadBytes: 100_000, bodyBytes: 10_000 },
    engine: { threads: 1, workers: 1 },
    providers: {
      fred: { url: upstream.url, limits: { windows: [{ requests: 1_000, perSeconds: 1 }] } },
      alphavantage: {
        url: upstream.url,
        key: filedKey,
        limits: { windows: [{ requests: 1, perSeconds: 86_400 }] },
      },
    },
  }
  writeFileSync(join(folder, 'config.json'), JSON.stringify(settings))
  server = await serveProcess({ data, environment: environment() })
  await drive()
  statuses = Object.fromEntries(answers.map(({ asked, status }) => [asked, status]))
}, 240_000)
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await upstream.close()
  rmSync(folder, { recursive: true, force: true })
})

/** All that can go well and all that can go wrong, each with a secret where one is or where one could get to. */
async function drive(): Promise<void> {
  const ada = await account('ada', 'free')
  const bob = await account('bob', 'unlimited')
  const json = (value: unknown) => JSON.stringify(value)
  const csv = { body: 'n,word\n1,a\n2,b\n', type: 'text/csv' }

  // What goes well.
  const { id: repositoryId } = JSON.parse(
    (await ask('POST', '/repositories', { key: ada, body: json({ name: 'r', private: true }) })).body,
  )
  const { id } = JSON.parse(
    (await ask('POST', '/datasets', { key: ada, body: json({ name: 'd', repositoryId }) })).body,
  )
  const rows = `/datasets/${id}/data`
  await ask('PUT', rows, { key: ada, ...csv })
  const whole = await ask('GET', rows, { key: ada })
  await ask('GET', `${rows}?apiKey=${ada}&$top=1`)
  const etag = new Map(JSON.parse(whole.headers) as [string, string][]).get('etag')!
  await ask('GET', `${rows}?apiKey=${ada}`, { headers: { 'if-none-match': etag } })
  await ask('GET', '/account', { key: root })
  for (const open of ['/healthz', '/readyz', '/docs']) await ask('GET', `${open}?apiKey=${root}`)

  // Who is not let in.
  const wrong = canary('wrong key')
  await ask('GET', '/repositories', { key: wrong })
  await ask('GET', `/repositories?apiKey=${wrong}`)
  await ask('GET', `/repositories?apiKey=${ada}&apiKey=${canary('key given twice')}`)
  await ask('GET', `/repositories?api_key=${canary('key under another name')}`)
  for (const [name, value] of [
    ['authorization', `Bearer ${canary('token')}`],
    ['authorization', `Basic ${canary('key that is not base64')}`],
    ['authorization', basic('', canary('key as password'))],
    ['cookie', `session=${canary('cookie')}`],
    ['x-api-key', canary('header of its own')],
    ['proxy-authorization', `Basic ${canary('key for a proxy')}`],
    ['referer', `http://x.example/?apiKey=${canary('referer')}`],
    ['user-agent', canary('agent')],
  ] as const) {
    await ask('GET', '/account', { headers: { [name]: value } })
    await ask('GET', '/account', { key: ada, headers: name === 'authorization' ? {} : { [name]: value } })
  }

  // Keys in paths.
  for (const path of ['', 'user-keys/', 'providers/', 'providers/fred/series/', 'datasets/', 'console/']) {
    await ask('GET', `/${path}${ada}`, { key: ada })
    await ask('GET', `/${path}${canary(`key in the path /${path}`)}`, { key: ada })
  }
  await ask('PUT', `/user-keys/${canary('saved key in the path')}`, { key: ada, body: json({ key: 'k' }) })
  const members = `/repositories/${repositoryId}/members`
  await ask('GET', `${members}/${canary('key in place of an account')}`, { key: ada })
  await ask('GET', `/%zz${canary('key in a malformed path')}`, { key: ada })
  await ask('DELETE', `/repositories/x?apiKey=${ada}`)

  // Keys in what is sent.
  const told = (text: string) => encodeURIComponent(text)
  await ask('GET', `${rows}?$filter=${told(`word eq '${canary('key in a filter')}'`)}`, { key: ada })
  await ask('GET', `${rows}?$filter=${told(`"${canary('key as a column')}" eq 1`)}`, { key: ada })
  await ask('GET', `${rows}?$orderby=${canary('key as an order')}`, { key: ada })
  await ask('GET', `${rows}?$top=${canary('key as a number')}`, { key: ada })
  await ask('GET', `${rows}?${canary('key as a parameter')}=1`, { key: ada })
  await ask('POST', '/repositories', { key: ada, body: json({ name: 1, key: canary('key as a field') }) })
  await ask('POST', '/repositories', { key: ada, body: `{"name": ${canary('key in broken JSON')}}` })
  await ask('POST', '/repositories', { key: ada, body: canary('key as a body'), type: 'text/plain' })
  const text = canary('key in an upload')
  await ask('POST', rows, { key: ada, body: `n,word\n${text},c\n`, type: 'text/csv' })
  await ask('POST', rows, { key: ada, body: `n,${text}\n1,c\n`, type: 'text/csv' })
  await ask('POST', rows, { key: ada, body: json({ rows: [{ n: text }] }) })
  await ask('POST', rows, { key: ada, body: json({ provider: 'fred', series: [text] }) })
  await ask('POST', rows, { key: ada, body: text.repeat(4_000), type: 'text/csv' })
  await ask('POST', '/repositories', { key: ada, body: json({ name: text.repeat(1_000) }) })

  // Saved keys.
  const fred = { key: ada, body: json({ key: savedKey }) }
  await Promise.all([ask('PUT', '/user-keys/fred', fred), ask('PUT', '/user-keys/FRED', fred)])
  await ask('PUT', '/user-keys/fred', { key: bob, body: json({ key: refusedKey }) })
  await ask('PUT', '/user-keys/fred', { key: bob, body: `{"key": ${canary('saved key in broken JSON')}}` })
  await ask('PUT', '/user-keys/fred', { key: bob, body: json({ key: [canary('saved key in a list')] }) })
  await ask('PUT', '/user-keys/fred', { key: bob, body: json({ key: `${canary('saved key')} and more` }) })
  await ask('GET', '/user-keys', { key: ada })

  // Providers that fail, asked with a saved key and with the service's own.
  // The last one shuts the door for a while.
  for (const series of ['GOOD', 'NONE', 'DOWN', 'SLOW', 'ODD', 'CUT', 'AWAY', 'BROKEN', 'BUSY']) {
    for (const key of [ada, bob]) await ask('GET', `/providers/fred/series/${series}`, { key })
  }
  await ask('GET', '/providers/fred/browse', { key: ada })
  await ask('GET', '/providers/alphavantage/series/TIME_SERIES_DAILY/IBM', { key: bob })
  await ask('GET', '/providers/alphavantage/series/TIME_SERIES_DAILY/MSFT', { key: bob })

  // Limits of plans, permissions.
  await ask('POST', '/repositories?', { key: ada, body: json({ name: 's', private: true }) })
  await ask('GET', '/providers/nasdaq/browse', { key: ada })
  await ask('GET', `/repositories/${repositoryId}`, { key: bob })
  await ask('GET', '/metrics', { key: ada })
  await ask('PATCH', '/repositories', { key: ada })

  // What nobody foresaw: the file of the rows is damaged.
  for (const file of readdirSync(join(data, 'parts'))) {
    const { size } = statSync(join(data, 'parts', file))
    truncateSync(join(data, 'parts', file), size - 200)
  }
  await ask('GET', `${rows}?$filter=${told(`word eq '${text}' and n gt 0`)}`, { key: ada })

  // A key that is replaced; and what is not HTTP.
  const rotated = await ask('POST', '/account/api-key', { key: ada })
  accountKeys.push(JSON.parse(rotated.body).apiKey)
  await ask('GET', '/datasets', { key: ada })
  await ask('GET', '/datasets', { headers: { authorization: basic(accountKeys.at(-1)!) } })
  await raw(`GET /account HTTP/1.1\r\nAuthorization: ${basic(root)}\r\n${canary('broken header')}\r\n\r\n`)
  await raw(`${canary('no method at all')} / HTTP/1.1\r\nHost: x\r\n\r\n`)
  await raw(`GET http://${canary('host')}:${root}@x/account HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  const long = `${canary('long header')}${'x'.repeat(200_000)}`
  expect(await raw(`GET /account?apiKey=${root} HTTP/1.1\r\nHost: x\r\nX: ${long}\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 431/,
  )
}

describe('no secret', () => {
  it('was spared: every kind of answer was given', () => {
    const given = new Set(answers.map(({ status }) => status))
    const wanted = [200, 201, 304, 400, 401, 402, 403, 404, 405, 409, 413, 415, 429, 500, 503, 504]
    expect([...given].toSorted()).toEqual(wanted)
    const series = (name: string) => statuses[`GET /providers/fred/series/${name}`]
    expect(['GOOD', 'NONE', 'DOWN', 'SLOW', 'ODD', 'CUT', 'AWAY', 'BROKEN', 'BUSY'].map(series)).toEqual([
      200, 404, 503, 504, 500, 500, 500, 503, 429,
    ])
    // The provider was asked with all keys, so it could tell them.
    const asked = upstream.requests.map(({ url }) => url).join()
    for (const key of [serviceKey, savedKey, refusedKey, filedKey]) expect(asked).toContain(key)
  })

  it('is in an answer, but for what somebody is told of their own words, and for a new key', () => {
    const own = /^(saved )?key (in|as) /
    for (const { asked, status, headers, body } of answers) {
      const shown = body.match(/"apiKey":"([^"]+)"/)?.[1]
      const what = `${asked} ${status} ${headers} ${body}`
      expect(found(headers), what).toEqual([])
      const leaked = found(body, shown === undefined ? [] : [shown])
      expect(
        leaked.filter((name) => !(status === 400 || status === 404 || status === 409) || !own.test(name)),
        what,
      ).toEqual([])
    }
  })

  it('in particular none that was sent to be saved', () => {
    const saving = answers.filter(({ asked }) => /^PUT .user-keys.fred/i.test(asked))
    expect(saving.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400, 409])
    for (const { body } of saving) expect(found(body), body).toEqual([])
  })

  it('is in the log at its most talkative, or among the warnings', () => {
    const { out, err } = server.said()
    const lines = out.split('\n').filter((line) => line.startsWith('{'))
    expect(lines.length).toBeGreaterThan(answers.length)
    for (const line of lines) expect(found(line), line).toEqual([])
    expect(found(out)).toEqual([])
    expect(err).toBe('')
    // It was told enough all the same to find the causes.
    expect(out).toContain('"status":500')
    expect(out).toContain('"provider":"fred"')
    expect(out).toContain(`"path":"/datasets/1/data"`)
  })

  it('is in the metrics, the description of the API or the documentation', async () => {
    const metrics = await ask('GET', '/metrics', { key: root })
    expect(metrics.body).toContain('parquetry_refused_total')
    for (const { body } of [metrics, await ask('GET', '/openapi.json'), await ask('GET', '/docs')]) {
      expect(found(body)).toEqual([])
    }
  })

  it.skipIf(IS_CLUSTER)('is in the data directory: keys are hashed, saved ones encrypted', () => {
    const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
    const texts = files.map(({ name, parentPath }) => ({
      name,
      text: readFileSync(join(parentPath, name), 'latin1'),
    }))
    expect(files.map(({ name }) => name)).toContain('catalog.sqlite-wal')
    expect(texts.some(({ text }) => text.includes('provider_keys'))).toBe(true)
    for (const { name, text } of texts) expect(found(text), name).toEqual([])
  })

  it.runIf(process.platform === 'linux')('is in the command line or the title of the process', () => {
    for (const file of ['cmdline', 'comm', 'status']) {
      expect(found(readFileSync(`/proc/${server.pid}/${file}`, 'latin1'))).toEqual([])
    }
  })

  it('is told by a start that fails', async () => {
    const file = join(folder, 'wrong.json')
    const key = canary('key in a wrong configuration')
    const problem = (content: string, more = {}) => {
      writeFileSync(file, content)
      try {
        readConfig({}, { ...environment(), PARQUETRY_CONFIG: file, ...more })
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError)
        return (error as Error).message
      }
      return expect.unreachable('it is no failure')
    }
    for (const message of [
      problem(`{"providers": {"fred": {"key": ${key}}}}`),
      problem(`{"providers": {"fred": {"key": "${key}"x}}}`),
      problem(JSON.stringify({ providers: { fred: { url: `ftp://${key}@x` } } })),
      problem(JSON.stringify({ providers: { fred: { key: [key] } } })),
      problem('{}', { PARQUETRY_ROOT_KEY: key.slice(0, 15) }),
      problem('{}', { PARQUETRY_ROOT_KEY: `${key}:` }),
      problem('{}', { PARQUETRY_PROVIDER_FRED_URL: key }),
    ]) {
      expect(message).not.toContain(key.slice(0, 15))
    }
    writeFileSync(file, '{}')
    const ended = await runCommand(['serve', '--data', join(folder, 'other'), '--port', '0'], {
      ...environment(),
      PARQUETRY_CONFIG: file,
      PARQUETRY_PROVIDER_NOSUCH_KEY: key,
    })
    expect(ended).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^parquetry: providers\.nosuch/),
    })
    expect(found(ended.err)).toEqual([])
  })
})
