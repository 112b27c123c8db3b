import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { greeting } from '../../../server/commands/serve.ts'
import { readConfig } from '../../../server/config/read.ts'
import type { Config } from '../../../server/config/schema.ts'
import { type Server, serve } from '../../../server/serve.ts'
import { IS_CLUSTER } from '../../cluster/elsewhere.ts'
import { startUpstream } from '../../connectors/support/upstream.ts'
import { basic, ROOT_KEY } from '../platform.ts'

let folder: string
let lines: string[]
let open: Server[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parquetry-serve-'))
  lines = []
  open = []
})
afterEach(async () => {
  for (const server of open) await server.close()
  await rm(folder, { recursive: true, force: true })
})

const config = (more: Partial<Config> = {}): Config => ({
  ...readConfig({ data: folder, port: '0' }, { PARQUETRY_ROOT_KEY: ROOT_KEY }),
  engine: { threads: 1, workers: 1 },
  ...more,
})

async function start(more: Partial<Config> = {}): Promise<Server> {
  const server = await serve(config(more), { write: (line) => lines.push(line) })
  open.push(server)
  return server
}

const ask = (server: Server, path: string, init: RequestInit = {}) =>
  fetch(`${server.url}${path}`, { ...init, headers: { authorization: basic(ROOT_KEY), ...init.headers } })

async function bigDataset(server: Server): Promise<number> {
  const repository = await server.engine.createRepository({ name: 'r' })
  const { id } = await server.engine.createDataset({ repositoryId: repository.id, name: 'big' })
  const line = `${'x'.repeat(99)}\n`
  const body = (async function* () {
    yield Buffer.from('text\n')
    for (let i = 0; i < 200; i++) yield Buffer.from(line.repeat(1_000))
  })()
  await (await server.engine.dataset(id)).replace({ format: 'csv', body })
  return id
}

it.runIf(process.platform === 'linux')(
  'the main thread goes before those that read for exports',
  async () => {
    await start()
    const threads = (await readdir('/proc/self/task')).map(async (thread) => {
      const stat = await readFile(`/proc/self/task/${thread}/stat`, 'utf8')
      const [, name, fields] = /\((.*)\) (.*)/.exec(stat)!
      return [name, Number(fields!.split(' ')[16]) - getPriority()] as const
    })
    const pool = (await Promise.all(threads)).filter(([name]) => name === 'libuv-worker')
    expect(pool.length).toBeGreaterThan(0)
    expect(pool.map(([, nicer]) => nicer)).toEqual(pool.map(() => 5))
  },
)

describe('the first start', () => {
  it('makes the account root, an admin, with the key that was given', async () => {
    const server = await start()
    expect(server.newRootKey).toBeUndefined()
    expect(await (await ask(server, '/account')).json()).toMatchObject({ name: 'root', plan: 'unlimited' })
    expect((await ask(server, '/metrics')).status).toBe(200)
  })

  it('makes a key where none was given, told once', async () => {
    const first = await start({ rootKey: undefined })
    expect(first.newRootKey).toMatch(/^pq_/)
    const authorization = basic(first.newRootKey!)
    expect((await ask(first, '/account', { headers: { authorization } })).status).toBe(200)
    await first.close()
    const second = await start({ rootKey: undefined })
    expect(second.newRootKey).toBeUndefined()
    expect((await ask(second, '/account', { headers: { authorization } })).status).toBe(200)
  })

  it('alone takes PARQUETRY_ROOT_KEY; later another one is told to be of no use', async () => {
    const first = await start()
    await first.close()
    const second = await start({ rootKey: 'another-key-0123456789' })
    expect((await ask(second, '/account')).status).toBe(200)
    const authorization = basic('another-key-0123456789')
    expect((await ask(second, '/account', { headers: { authorization } })).status).toBe(401)
    expect(lines.join('')).toContain('PARQUETRY_ROOT_KEY counts at the first start alone')
    expect(lines.join('')).not.toContain('another-key')
  })

  it('is greeted with a key that lets in, or told where to find one', async () => {
    const sample = { weather: 1, penguins: 2 }
    const first = await start()
    expect(greeting(first, sample)).toContain('the one in PARQUETRY_ROOT_KEY')
    expect(greeting(first, sample)).toContain(
      `curl -u "$PARQUETRY_ROOT_KEY:" "${first.url}/datasets/1/data?\\$top=5"`,
    )
    await first.close()
    const second = await start({ rootKey: 'another-key-0123456789' })
    expect(greeting(second, sample)).toContain('shown at the first start')
    expect(greeting(second, sample)).not.toContain('PARQUETRY_ROOT_KEY')
    expect(greeting(second, sample)).toContain('curl -u "API_KEY:"')
    await second.close()
    const data = join(folder, 'other')
    const third = await start({ data, rootKey: undefined })
    expect(greeting(third, sample).split(third.newRootKey!)).toHaveLength(5)
    expect(greeting({ ...third, hasConsole: true }, sample)).toContain(`${third.url}/console/`)
    expect(greeting({ ...third, hasConsole: false }, sample)).not.toContain('/console/')
    expect(greeting({ ...third, hasGuide: true }, sample)).toContain(`${third.url}/guide/`)
    expect(greeting({ ...third, hasGuide: false }, sample)).not.toContain('/guide/')
  })

  it.skipIf(IS_CLUSTER)('makes a secret that only its owner can read, and keeps it', async () => {
    const server = await start()
    const file = join(folder, 'secret')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const secret = await readFile(file, 'utf8')
    expect(secret.length).toBeGreaterThan(30)
    await server.close()
    await start()
    expect(await readFile(file, 'utf8')).toBe(secret)
  })

  it.skipIf(IS_CLUSTER)('refuses a secret file that was cut short', async () => {
    await writeFile(join(folder, 'secret'), '')
    await expect(start()).rejects.toThrow(/secret/)
  })
})

describe('a second server on the same directory', () => {
  it.skipIf(IS_CLUSTER)('is refused and told why; the first goes on', async () => {
    const first = await start()
    await expect(serve(config())).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringMatching(/server/i),
    })
    expect((await ask(first, '/repositories')).status).toBe(200)
  })

  it('may start when the first is closed', async () => {
    const first = await start()
    await first.close()
    expect((await ask(await start(), '/repositories')).status).toBe(200)
  })
})

describe('wrong settings stop the start', () => {
  it('a provider that there is not', async () => {
    await expect(start({ providers: { nosuch: { key: 'k' } } })).rejects.toThrow(/providers\.nosuch/)
    // Nothing is left open: the directory can be served.
    await start()
  })

  it("a plan of an account's that is not configured", async () => {
    const first = await start()
    await first.close()
    const { unlimited: _, ...plans } = config().plans
    await expect(start({ plans })).rejects.toThrow(/Account root has the plan unlimited/)
  })

  it('a port that is taken', async () => {
    const first = await start()
    const port = Number(new URL(first.url).port)
    const other = await mkdtemp(join(tmpdir(), 'parquetry-serve-'))
    await expect(serve(config({ port, data: other }))).rejects.toThrow(/EADDRINUSE/)
    await rm(other, { recursive: true, force: true })
  })
})

describe('closing', () => {
  it('lets a running download end, refuses new work with 503 and Retry-After meanwhile', async () => {
    const server = await start()
    const id = await bigDataset(server)
    const download = await ask(server, `/datasets/${id}/data`)
    expect(download.status).toBe(200)
    const closed = server.close()
    const refused = await ask(server, '/repositories')
    expect(refused.status).toBe(503)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.json()).toEqual({ error: expect.any(String), code: 'shutting_down' })
    expect((await ask(server, '/healthz')).status).toBe(200)
    expect((await ask(server, '/readyz')).status).toBe(503)
    expect((await download.text()).length).toBe(5 + 200_000 * 100)
    await closed
    await expect(ask(server, '/healthz')).rejects.toThrow()
  })

  it('cuts a download that does not end within the limit, so that the client knows', async () => {
    const { timeouts } = config()
    const server = await start({ timeouts: { ...timeouts, shutdown: 300 } })
    const id = await bigDataset(server)
    // Compressed, these rows would fit into the buffers of the socket, and nothing would be left to cut.
    const headers = { 'accept-encoding': 'identity' }
    const download = await ask(server, `/datasets/${id}/data`, { headers })
    await server.close()
    await expect(download.text()).rejects.toThrow()
  })

  it('keeps what was counted', async () => {
    const server = await start()
    const id = await bigDataset(server)
    await (await ask(server, `/datasets/${id}/data?$top=7`)).text()
    await server.close()
    const account = (await (await ask(await start(), '/account')).json()) as {
      usage: { exportedRows: number }
    }
    expect(account.usage.exportedRows).toBe(7)
  })
})

it("a day's limit of a provider survives a restart", async () => {
  await using upstream = Object.assign(await startUpstream({ '*': { body: { base: 'EUR', rates: {} } } }), {
    [Symbol.asyncDispose]: () => upstream.close(),
  })
  const providers = {
    fred: { url: upstream.url, key: 'k', limits: { windows: [{ requests: 2, perSeconds: 86_400 }] } },
  }
  const series = async (server: Server, id: string) =>
    (await ask(server, `/providers/fred/series/${id}`)).status
  const first = await start({ providers })
  for (let i = 0; i < 4; i++) await series(first, `S${i}`)
  expect(upstream.requests).toHaveLength(2)
  await first.close()
  const second = await start({ providers })
  const response = await ask(second, '/providers/fred/series/S9')
  expect(response.status).toBe(429)
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(60)
  expect(await response.json()).toEqual({ error: expect.stringMatching(/FRED/), code: 'provider_limit' })
  expect(upstream.requests).toHaveLength(2)
})
