import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'

import { IS_CLUSTER } from '../../cluster/elsewhere.ts'
import { basic, ROOT_KEY } from '../platform.ts'
import { serveProcess } from '../process.ts'

/** Packages that few servers or few requests need, each of which takes long to load. */
const LATER =
  /^(undici|zod|rate-limiter-flexible|pg|avsc|exceljs|apache-arrow|@(modelcontextprotocol|aws-sdk|scalar|e965)\/.*)$/

/** A module that writes down what each process loads, in a file named by the process. */
const spy = (folder: string) =>
  `import { appendFileSync } from 'node:fs'; import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(`${folder}/`)} + process.pid, url + '\\n'); return next(url, context) } })`

test.skipIf(IS_CLUSTER)('a server answers before it has loaded what few requests need', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-start-'))
  const data = join(folder, 'data')
  const flag = `--import=data:text/javascript,${encodeURIComponent(spy(folder))}`
  try {
    await using server = await serveProcess({ data, environment: { NODE_OPTIONS: flag } })
    const loaded = readFileSync(join(folder, String(server.pid)), 'utf8')
    const packages = new Set(loaded.match(/(?<=\/node_modules\/)(@[^/]+\/)?[^/]+/g))
    expect(packages).toContain('fastify')
    expect([...packages].filter((name) => LATER.test(name))).toEqual([])
    expect(loaded).not.toContain('/connectors/providers/')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('samples come first, however early a client creates something of its own', async () => {
  const data = mkdtempSync(join(tmpdir(), 'parquetry-samples-'))
  const port = await freePort()
  const starting = serveProcess({
    data,
    samples: true,
    args: ['--port', String(port)],
    environment: { PARQUETRY_ROOT_KEY: ROOT_KEY },
  })
  try {
    const call = async (path: string, init: RequestInit = {}) => {
      const headers = { authorization: basic(ROOT_KEY), 'content-type': 'application/json' }
      return (await fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers })).json()
    }
    /** Tries until the server listens, and again where it sheds load. */
    const create = async (path: string, record: object): Promise<{ id: number }> => {
      const init = { method: 'POST', body: JSON.stringify(record) }
      const made = await call(path, init).catch(() => undefined)
      return made?.id === undefined ? create(path, await delay(5, record)) : made
    }
    const early = await create('/repositories', { name: 'early' })
    const own = await create('/datasets', { name: 'own', repositoryId: early.id })
    expect([early.id, own.id]).toEqual([2, 4])
    await starting
    expect(await call('/datasets')).toMatchObject([
      { id: 1, name: 'us-employment', repositoryId: 1 },
      { id: 2, name: 'seattle-weather' },
      { id: 3, name: 'penguins' },
      { id: 4, name: 'own' },
    ])
  } finally {
    await (await starting)[Symbol.asyncDispose]()
    rmSync(data, { recursive: true, force: true })
  }
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
