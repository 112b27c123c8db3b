import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IS_CLUSTER } from '../../cluster/elsewhere.ts'
import { basic } from '../platform.ts'
import { type Served, serveProcess } from '../process.ts'

const KEY = 'the-root-key-of-these-tests'
let data: string
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'parquetry-uncaught-'))
  // A machine with other work must not make the server refuse requests.
  await writeFile(
    join(data, 'config.json'),
    JSON.stringify({ shedding: { eventLoopDelay: 0, memoryBytes: 0 } }),
  )
})
afterAll(() => rm(data, { recursive: true, force: true }))

const serving = (environment: Record<string, string> = {}, main?: string) =>
  serveProcess({
    data: join(data, 'data'),
    environment: { PARQUETRY_ROOT_KEY: KEY, PARQUETRY_CONFIG: join(data, 'config.json'), ...environment },
    ...(main !== undefined && { main }),
  })

function client({ url }: Served) {
  return (path: string, { fault, ...init }: RequestInit & { readonly fault?: number } = {}) =>
    fetch(url + path, {
      // A request that gets neither an answer nor an end fails the test.
      signal: AbortSignal.timeout(60_000),
      ...init,
      headers: {
        authorization: basic(KEY),
        ...(init.headers as object),
        ...(fault !== undefined && { 'x-fault': `${fault}` }),
      },
    })
}

describe('a server', () => {
  test('answers or cuts a request in which a timer, a tick or an event throws, and goes on', async () => {
    const preload = new URL('./faults.ts', import.meta.url).href
    await using server = await serving({ NODE_OPTIONS: `--import ${preload}` })
    const send = client(server)
    const create = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      return (await (await send(path, { method: 'POST', body: JSON.stringify(body), headers })).json()).id
    }
    const repositoryId = await create('/repositories', { name: 'faults' })
    const id = await create('/datasets', { name: 'rows', repositoryId })
    const csv = `n\n${Array.from({ length: 20_000 }, (_, n) => `${n}\n`).join('')}`
    const requests: ((fault?: number) => Promise<Response>)[] = [
      (fault) =>
        send(`/datasets/${id}/data`, {
          method: 'PUT',
          body: csv,
          headers: { 'content-type': 'text/csv' },
          ...(fault !== undefined && { fault }),
        }),
      (fault) =>
        send(
          `/datasets/${id}/data?$format=json&$filter=n ge ${fault ?? 0}`,
          fault === undefined ? {} : { fault },
        ),
      (fault) =>
        send(
          `/sql?q=${encodeURIComponent(`SELECT count(*) FROM rows WHERE n <> ${fault ?? -1}`)}`,
          fault === undefined ? {} : { fault },
        ),
    ]
    // A kept connection may be cut while it is used again, and one to the database that others share by the fault. Clients
    // ask again.
    const read = async (): Promise<Response> => {
      const answer = await send(`/datasets/${id}/data?$top=1`).catch(read)
      return IS_CLUSTER && answer.status === 503 ? read() : answer
    }
    expect((await requests[0]!()).status).toBe(200)
    for (const request of requests) {
      for (let fault = 0; fault < 40; fault += 3) {
        const faulty = await request(fault)
          .then((answer) => answer.text().then(() => answer.status))
          .catch((error: Error) => (error.name === 'TimeoutError' ? undefined : 'cut'))
        expect([fault, faulty]).toEqual([fault, expect.anything()])
        const next = await read()
        expect([fault, next.status, await next.text()]).toEqual([fault, 200, 'n\n0\n'])
      }
    }
    expect(server.said().out).toMatch(/an error of a request that nobody caught/)
  }, 600_000)

  test.skipIf(process.platform !== 'linux')(
    'refuses connections before it has no descriptors',
    async () => {
      const main = join(data, 'limited.mjs')
      await writeFile(
        main,
        `import { spawn } from 'node:child_process'
       const bin = ${JSON.stringify(new URL('../../../server/bin.js', import.meta.url).pathname)}
       const args = ['-c', 'ulimit -n 300; exec "$@"', 'sh', process.execPath, bin, ...process.argv.slice(2)]
       const child = spawn('/bin/sh', args, { stdio: ['ignore', 'inherit', 'inherit'] })
       process.on('SIGTERM', () => child.kill('SIGTERM'))
       child.on('exit', (code) => process.exit(code ?? 1))`,
      )
      await using server = await serving({}, main)
      const { port } = new URL(server.url)
      const sockets: Socket[] = []
      const ended: Promise<boolean>[] = []
      for (let count = 0; count < 400; count++) {
        const socket = connect(Number(port), '127.0.0.1')
        socket.on('error', () => {})
        sockets.push(socket)
        ended.push(new Promise((resolve) => socket.once('close', () => resolve(true))))
      }
      // Those beyond the limit are closed at once; the others are idle.
      await Promise.all(ended.slice(172))
      for (const socket of sockets.slice(0, 20)) socket.destroy()
      // Until the server has noticed that these are closed, it refuses new ones.
      const ask = (): Promise<Response> => client(server)('/sql?q=SELECT%201%20AS%20one').catch(ask)
      const answer = await ask()
      expect([answer.status, await answer.text()]).toEqual([200, 'one\n1\n'])
      expect(server.said().out).toMatch(/connections are refused: raise the limit of open files/)
      for (const socket of sockets) socket.destroy()
      expect((await server.stop()).code).toBe(0)
    },
    120_000,
  )
})

test.skipIf(process.platform !== 'linux')(
  'a reader that can not be started fails its job, and nothing else',
  async () => {
    const pool = new URL('../../../engine/ingest/process/reader-pool.ts', import.meta.url).href
    const script = `
    import { closeSync, openSync } from 'node:fs'
    import { ReaderPool } from ${JSON.stringify(pool)}
    const readers = new ReaderPool({ threads: 1, tempDirectory: ${JSON.stringify(data)} })
    const open = []
    try { for (;;) open.push(openSync('/dev/null')) } catch {}
    for (const last of open.splice(-2)) closeSync(last)
    for (let count = 0; count < 3; count++) {
      try {
        using lent = readers.lend()
        await lent.process.run('ingest', {}, {})
        console.log('ran')
      } catch (error) {
        console.log(error.constructor.name)
      }
    }
    for (const one of open) closeSync(one)
    await readers.close()
    console.log('alive')`
    const args = [
      '-c',
      'ulimit -n 120; exec "$@"',
      'sh',
      process.execPath,
      '--input-type=module',
      '-e',
      script,
    ]
    const child = spawn('/bin/sh', args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let out = ''
    for await (const text of child.stdout.setEncoding('utf8')) out += text
    expect(out.trim().split('\n')).toEqual(['EngineError', 'EngineError', 'EngineError', 'alive'])
  },
)
