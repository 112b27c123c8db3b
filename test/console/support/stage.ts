import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { readConfig } from '../../../server/config/read.ts'
import { type Server, serve } from '../../../server/serve.ts'
import { type Routes, startUpstream, type Upstream } from '../../connectors/support/upstream.ts'

const CONSOLE = fileURLToPath(new URL('../../../server/console/', import.meta.url))

export const ROOT_KEY = 'the-root-key-of-the-console-tests'

export interface Stage extends AsyncDisposable {
  readonly server: Server
  readonly upstream: Upstream
  /** Calls the API beside the browser. */
  api(method: string, path: string, body?: unknown): Promise<Response>
  /** Puts a file in place of a dataset's rows, beside the browser. */
  upload(path: string, contentType: string, text: string): Promise<Response>
  /** Makes an account and gives its key. */
  account(name: string): Promise<string>
}

/** A server with the built console, over a new data directory, with FRED played on this machine. */
export async function openStage(routes: Routes, options: { demo?: boolean } = {}): Promise<Stage> {
  await buildConsole()
  const data = mkdtempSync(join(tmpdir(), 'parquetry-console-'))
  const upstream = await startUpstream(routes)
  const environment = {
    PARQUETRY_ROOT_KEY: ROOT_KEY,
    PARQUETRY_PROVIDER_FRED_URL: upstream.url,
    // Without a series, so that no page waits for what is tried again.
    PARQUETRY_PROVIDER_ECB_URL: upstream.url,
  }
  const read = readConfig({ data, port: '0' }, environment)
  const config = {
    ...read,
    sources: { ...read.sources, privateHosts: ['127.0.0.1'] },
    // The test shares its thread with the server, and a busy machine would shed what the page asks.
    shedding: { eventLoopDelay: 0, memoryBytes: 0 },
  }
  const server = await serve(config, { write: () => undefined }, options)
  const authorization = `Basic ${btoa(`${ROOT_KEY}:`)}`
  const api: Stage['api'] = (method, path, body) =>
    fetch(server.url + path, {
      method,
      headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return {
    server,
    upstream,
    api,
    upload: (path, contentType, body) =>
      fetch(server.url + path, {
        method: 'PUT',
        headers: { authorization, 'content-type': contentType },
        body,
      }),
    account: async (name) => {
      const made = await api('POST', '/accounts', { name, plan: 'free' })
      return ((await made.json()) as { apiKey: string }).apiKey
    },
    async [Symbol.asyncDispose]() {
      await server.close()
      await upstream.close()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

/**
 * Builds the console where it is missing or older than its sources, and gives the folder. Several test files may want
 * that at once: one builds, the others wait for it.
 */
export async function buildConsole(): Promise<string> {
  const dist = join(CONSOLE, 'dist')
  const lock = join(CONSOLE, 'dist.lock')
  while (!isFresh(dist)) {
    try {
      mkdirSync(lock)
    } catch {
      if (isOld(lock)) rmSync(lock, { recursive: true, force: true })
      await delay(100)
      continue
    }
    // As for the package: with vitest's own environment Vite takes the larger files that are for development.
    const { NODE_ENV } = process.env
    process.env['NODE_ENV'] = 'production'
    try {
      await build({ root: CONSOLE, configFile: join(CONSOLE, 'vite.config.ts'), logLevel: 'error' })
    } finally {
      process.env['NODE_ENV'] = NODE_ENV
      rmSync(lock, { recursive: true, force: true })
    }
  }
  return dist
}

/** Vite writes the page last, so what waits for it finds everything. */
function isFresh(dist: string): boolean {
  const sources = [join(CONSOLE, 'src'), join(CONSOLE, '../client'), join(CONSOLE, '../../engine')].flatMap(
    (folder) => readdirSync(folder, { recursive: true, withFileTypes: true }),
  )
  const newest = Math.max(...sources.map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs))
  return (statSync(join(dist, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0) >= newest
}

/** Left by a run that was killed. */
function isOld(lock: string): boolean {
  const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs
  return made !== undefined && Date.now() - made > 60_000
}

/** FRED, as far as a walk through the console needs it. */
export const FRED: Routes = {
  '/category/children': ({ query }) => ({
    body: {
      categories:
        query.get('category_id') === '0'
          ? [
              { id: 32991, name: 'Money, Banking, & Finance', parent_id: 0 },
              { id: 10, name: 'Population', parent_id: 0 },
            ]
          : [],
    },
  }),
  '/category/series': { body: { count: 1, seriess: [fredSeries()] } },
  '/series': { body: { seriess: [fredSeries()] } },
  '/series/observations': {
    body: {
      count: 24,
      observations: Array.from({ length: 24 }, (_, month) => ({
        date: new Date(Date.UTC(2022, month, 1)).toISOString().slice(0, 10),
        value: month === 5 ? '.' : String(100 + month / 4),
      })),
    },
  },
}

function fredSeries() {
  return {
    id: 'POPTHM',
    title: 'Population',
    frequency: 'Monthly',
    units: 'Thousands',
    observation_start: '2022-01-01',
    observation_end: '2023-12-01',
    last_updated: '2024-01-31 07:45:02-06',
  }
}
