import { spawn } from 'node:child_process'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { KEY } from '../service/service.ts'
import type { Ask } from './ask.ts'
import { ended, firstAnswer, freePort, type Server, started, type Tables } from './server.ts'

const AUTHORIZATION = `Basic ${btoa(`${KEY}:`)}`

/** A request to our server, with the key. */
export function signed(path: string, headers: Record<string, string> = {}): Ask {
  return { method: 'GET', path, headers: { authorization: AUTHORIZATION, ...headers } }
}

/** The ids of the tables: a new data directory numbers its datasets from one, in the order of the uploads. */
export const IDS = { lineitem: 1, tiny: 2 } as const

/**
 * Starts the server of a checkout of this project. At the first start the tables are uploaded to it over HTTP, as any
 * user would.
 * @param checkout folder of the project: this one, or an older one to compare with
 */
export async function startOurs(
  name: string,
  checkout: string,
  directory: string,
  tables: Tables,
): Promise<Server> {
  const fresh = !existsSync(directory)
  const port = await freePort()
  const child = spawn(
    process.execPath,
    [
      '--max-semi-space-size=16',
      join(checkout, 'server/bin.js'),
      ...['serve', '--port', String(port), '--data', directory, '--no-samples'],
    ],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        PARQUETRY_ROOT_KEY: KEY,
        PARQUETRY_LOG_LEVEL: 'error',
        PARQUETRY_INDEX_PROVIDERS: 'false',
      },
    },
  )
  const server: Server = {
    name,
    dialect: 'ours',
    port,
    pid: await started(child),
    [Symbol.asyncDispose]: () => ended(child),
  }
  if (fresh) {
    await firstAnswer(server, { method: 'GET', path: '/readyz' })
    await send(port, 'POST', '/repositories', JSON.stringify({ name: 'peers' }))
    for (const [name, id] of Object.entries(IDS)) {
      await send(port, 'POST', '/datasets', JSON.stringify({ name, repositoryId: 1 }))
      await send(port, 'PUT', `/datasets/${id}/data`, { file: tables[name as keyof Tables] })
    }
  }
  return server
}

function send(port: number, method: string, path: string, body: string | { file: string }): Promise<void> {
  const file = typeof body === 'string' ? undefined : body.file
  const headers = {
    authorization: AUTHORIZATION,
    'content-type': file ? 'application/vnd.apache.parquet' : 'application/json',
    'content-length': file ? statSync(file).size : Buffer.byteLength(body as string),
  }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => (text += chunk))
      answer.on('end', () =>
        answer.statusCode! < 300
          ? resolve()
          : reject(new Error(`${method} ${path}: ${answer.statusCode} ${text}`)),
      )
    })
    sent.on('error', reject)
    if (file) createReadStream(file).pipe(sent)
    else sent.end(body)
  })
}
