import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { type Connectors, openConnectors } from '../../connectors/index.ts'
import { type Engine, migrate, openEngine } from '../../engine/index.ts'
import { SERVER_STEPS } from '../../server/accounts/schema.ts'
import { buildApp } from '../../server/app.ts'
import { attachableIn, distributed, readConfig, sqlWait } from '../../server/config/read.ts'
import type { Config } from '../../server/config/schema.ts'
import { providerLimits } from '../../server/providers.ts'
import { openServices, type Services } from '../../server/services.ts'
import type { Network } from '../../server/sources/networks.ts'
import { type Routes, startUpstream, type Upstream } from '../connectors/support/upstream.ts'
import { forced } from '../trino/forced.ts'

/** Parts of the configuration, each group merged with the defaults. */
export type Overrides = { readonly [K in keyof Config]?: Partial<Config[K]> }

export interface CallOptions {
  readonly json?: unknown
  readonly body?: string | Buffer
  readonly headers?: Record<string, string>
}

/** A service in a directory of its own, with a fake provider behind it. */
export interface Platform extends AsyncDisposable {
  readonly directory: string
  readonly engine: Engine
  readonly connectors: Connectors
  readonly services: Services
  readonly app: FastifyInstance
  readonly upstream: Upstream
  /** Lines of the log, parsed. */
  readonly log: Record<string, unknown>[]
  /** Key of an admin. */
  readonly root: string
  /** Makes an account and gives its key. */
  account(name: string, plan?: string): Promise<string>
  call(
    key: string | undefined,
    method: string,
    url: string,
    options?: CallOptions,
  ): Promise<LightMyRequestResponse>
  /** Listens on a free port and gives the address. */
  listen(): Promise<string>
}

/** A plan without limits. */
export const NO_LIMITS = {
  privateRepositories: null,
  publicRepositories: null,
  paidProviders: false,
  exportedRows: null,
  datasets: null,
  columns: null,
  storedBytes: null,
  keptVersions: null,
  keptDays: null,
  refreshSeconds: null,
}

export const ROOT_KEY = 'the-root-key-of-the-tests'

export async function platform(
  options: {
    config?: Overrides
    routes?: Routes
    now?: () => Date
    network?: Network
    console?: string
    guide?: string
  } = {},
): Promise<Platform> {
  const directory = await mkdtemp(join(tmpdir(), 'parquetry-server-'))
  const trino = options.config?.trinoUrl === undefined ? await forced() : undefined
  const upstream = await startUpstream(options.routes ?? {})
  const defaults = {
    ...readConfig({ data: directory, port: '0' }, {}),
    // A busy machine would shed what the tests ask; those of shedding switch it on.
    shedding: { eventLoopDelay: 0, memoryBytes: 0 },
  }
  // So many tests send wrong keys from one address that only those of the limit have one.
  Object.assign(defaults.limits, { failedKeys: 0 })
  const merged = Object.fromEntries(
    Object.entries(defaults).map(([key, value]) => {
      const given = (options.config as Record<string, unknown> | undefined)?.[key]
      if (given === undefined) return [key, value]
      return [key, isGroup(value) && isGroup(given) ? { ...value, ...given } : given]
    }),
  )
  const config = {
    secret: 'a secret of the tests',
    // Settings without a default are not among the merged ones.
    ...options.config,
    ...merged,
    ...(trino && { trinoUrl: trino.trinoUrl, trino: { minBytes: 0, maxRows: 100_000 } }),
    ...(trino && { iceberg: { localFiles: true } }),
    engine: { threads: 2, workers: 1, memoryLimit: '1GiB' },
  } as unknown as Config
  const engine = await openEngine({
    directory,
    role: 'server',
    ...attachableIn(config),
    ...config.engine,
    sqlWaitMs: sqlWait(config),
    trino: distributed(config),
    uploadLimits: { bytes: config.limits.uploadBytes, unpackedBytes: config.limits.unpackedBytes },
  })
  await migrate(engine.database, 'server', SERVER_STEPS)
  const slugs = ['fred', 'bls', 'nasdaq', 'alphavantage', 'frankfurter', 'ecb']
  const connectors = openConnectors({
    overrides: Object.fromEntries(
      slugs.map((slug) => [
        slug,
        {
          baseUrl: `${upstream.url}/${slug}`,
          ...definedOnly({ key: config.providers[slug]?.key, limits: config.providers[slug]?.limits }),
        },
      ]),
    ),
    limitStore: await providerLimits(engine.database),
    retry: { attempts: 1 },
    ...(options.now && { now: () => options.now!().getTime() }),
  })
  const log: Record<string, unknown>[] = []
  const services = await openServices({
    config,
    engine,
    connectors,
    version: '1.2.3',
    warn: (msg) => log.push({ level: 'warn', msg }),
    // A machine with much other work takes longer than the ten seconds of users.
    patienceMs: 60_000,
    ...(options.now && { now: options.now }),
    ...(options.network && { network: options.network }),
    ...(options.console !== undefined && { console: options.console }),
    ...(options.guide !== undefined && { guide: options.guide }),
  })
  await services.accounts.create({ name: 'root', plan: 'unlimited', admin: true, key: ROOT_KEY })
  const app = buildApp(services, { write: (line) => log.push(JSON.parse(line)) })
  await app.ready()
  trino?.serve((request, response) => app.routing(request, response), engine)
  return {
    directory,
    engine,
    connectors,
    services,
    app,
    upstream,
    log,
    root: ROOT_KEY,
    account: async (name, plan = 'unlimited') => (await services.accounts.create({ name, plan })).key,
    call: (key, method, url, { json, body, headers } = {}) =>
      app.inject({
        method: method as NonNullable<InjectOptions['method']>,
        url,
        headers: {
          ...(key !== undefined && { authorization: basic(key) }),
          ...(json !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(json !== undefined && { payload: JSON.stringify(json) }),
        ...(body !== undefined && { payload: body }),
      }),
    listen: () => app.listen({ port: 0, host: '127.0.0.1' }),
    async [Symbol.asyncDispose]() {
      await trino?.close()
      await app.close()
      await services.refresher.close()
      await connectors.close()
      await services.usage.flush()
      await engine.close()
      await upstream.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export function basic(key: string, password = ''): string {
  return `Basic ${Buffer.from(`${key}:${password}`).toString('base64')}`
}

/** Makes a repository and a dataset with rows in it; gives their ids. */
export async function dataset(
  at: Platform,
  key: string,
  options: { name?: string; private?: boolean; csv?: string } = {},
): Promise<{ repository: number; id: number }> {
  const repository = await at.call(key, 'POST', '/repositories', {
    json: { name: options.name ?? 'tables', private: options.private ?? false },
  })
  const repositoryId = repository.json().id
  const made = await at.call(key, 'POST', '/datasets', {
    json: { name: options.name ?? 'table', repositoryId },
  })
  const { id } = made.json()
  const put = await at.call(key, 'PUT', `/datasets/${id}/data`, {
    body: options.csv ?? NUMBERS,
    headers: { 'content-type': 'text/csv' },
  })
  if (put.statusCode !== 200) throw new Error(put.body)
  return { repository: repositoryId, id }
}

/** Ten rows: n from 1 to 10, a word for some of them. */
export const NUMBERS = `n,word\n${Array.from({ length: 10 }, (_, i) => `${i + 1},${i % 3 === 0 ? '' : `w${i + 1}`}`).join('\n')}\n`

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function definedOnly(fields: Record<string, unknown>) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
