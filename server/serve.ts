import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Engine, isUnwritable, openEngine } from '../engine/index.ts'
import { Lazy } from '../engine/util/shared.ts'
import { lowerPool } from '../engine/util/threads.ts'
import type { Accounts } from './accounts/accounts.ts'
import { buildApp } from './app.ts'
import { attachableIn, distributed, objectStore, sqlWait } from './config/read.ts'
import type { Config } from './config/schema.ts'
import { ServerError } from './http/errors.ts'
import { EarlyLog } from './logger.ts'
import { indexProviders, openProviders } from './providers.ts'
import { openServices, type ServiceParts, type Services } from './services.ts'
import { stopping } from './transfers/transfer.ts'
import { ownVersion } from './version.ts'

export interface Server {
  /** Its address, for example `http://127.0.0.1:8080`. */
  readonly url: string
  readonly engine: Engine
  /** The generated key of the root account, if this start has made that account and no key was configured. */
  readonly newRootKey: string | undefined
  /** The end of root's key, by which its owner recognizes it. */
  readonly rootKeyHint: string
  /** Whether the configured key is root's key. It is not if an earlier start set another key or if it was rotated. */
  readonly rootKeyHolds: boolean
  /** Whether the console was built and is served. */
  readonly hasConsole: boolean
  readonly hasGuide: boolean
  /** Makes a repository that was created by the library readable by every account. */
  publish(repositoryId: number): Promise<void>
  /**
   * Refuses new work, waits until work under way has ended or the limit has passed, aborts the rest, closes everything.
   */
  close(): Promise<void>
  readonly log: FastifyBaseLogger
}

const ROOT = 'root'

export interface ServeOptions {
  /** Begins with an empty catalog if the present one is lost or damaged. */
  readonly anew?: boolean | undefined
  /** Makes this catalog the owner of the store, even if another copy of it is. */
  readonly takeOver?: boolean | undefined
  /** Whether the index of the providers' series is filled in the background. */
  readonly index?: boolean | undefined
  /** Whether it is only tried out, so that the console may be signed in by its address. */
  readonly demo?: boolean | undefined
  /** Fills the catalog before any client can. */
  readonly prepare?: ((server: Pick<Server, 'engine' | 'publish'>) => Promise<void>) | undefined
}

/**
 * Serves a data directory until it is closed.
 * @throws EngineError `locked` when another server has the directory; ConfigError
 */
export async function serve(
  config: Config,
  log?: { write(line: string): void },
  options: ServeOptions = {},
): Promise<Server> {
  const opened: Closers = []
  try {
    return await start(config, log, options, opened)
  } catch (error) {
    // What went wrong first is what matters.
    await closeAll(opened).catch(() => undefined)
    throw error
  }
}

async function start(
  config: Config,
  log: { write(line: string): void } | undefined,
  { prepare, index, demo, ...storage }: ServeOptions,
  opened: Closers,
): Promise<Server> {
  const events = new EarlyLog()
  const engine = await openStorage(config, storage, events)
  opened.push(() => engine[Symbol.asyncDispose]())
  // A first start makes an account and shows its key once it listens: that must not fail in between.
  await checkPort(config)
  const services = await openServer({ config, engine, demo }, events, opened)
  const app = buildApp(services, log)
  const newRootKey = await firstAccount(services.accounts, config.rootKey)
  opened.push(() => app.close())
  warmAfterFirstAnswer(app, engine)
  events.to(app.log)
  const owner = config.rootKey === undefined ? undefined : await services.keys.find(config.rootKey)
  const rootKeyHolds = owner?.account.name === ROOT
  if (config.rootKey !== undefined && !rootKeyHolds) {
    app.log.warn('PARQUETRY_ROOT_KEY counts at the first start alone, and is not the key that root has now.')
  }
  const root = await services.accounts.byName(ROOT)
  const publish = (repositoryId: number) => services.access.setOwner(repositoryId, root.id, false)
  await prepare?.({ engine, publish })
  limitConnections(app)
  await app.listen({ host: config.host, port: config.port })
  lowerPool()
  services.refresher.start()
  opened.push(() => services.refresher.close())
  if (index) opened.push(indexProviders(services.connectors, app.log))

  let closing: Promise<void> | undefined
  return {
    url: urlOf(app, config.host),
    engine,
    newRootKey,
    rootKeyHolds,
    rootKeyHint: root.apiKeyHint,
    hasConsole: services.console !== undefined,
    hasGuide: services.guide !== undefined,
    publish,
    log: app.log,
    close: () => (closing ??= finish(services, opened)),
  }
}

/** Of the descriptors that a process may have, those that are left to files, pipes and processes: a share, and at least. */
const KEPT_SHARE = 0.25
const KEPT_LEAST = 128

/** Refuses connections beyond the limit of descriptors, so that files can still be opened. */
function limitConnections({ server, log }: FastifyInstance): void {
  // Other systems have no such file.
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : ''
  const most = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.NaN)
  if (Number.isNaN(most)) return
  server.maxConnections = Math.max(1, Math.floor(most - Math.max(KEPT_LEAST, most * KEPT_SHARE)))
  let last = Number.NEGATIVE_INFINITY
  server.on('drop', () => {
    if (performance.now() - last < 60_000) return
    last = performance.now()
    log.warn(
      { maxConnections: server.maxConnections, descriptors: most },
      'connections are refused: raise the limit of open files (ulimit -n, LimitNOFILE)',
    )
  })
}

function openStorage(
  config: Config,
  options: Pick<ServeOptions, 'anew' | 'takeOver'>,
  events: EarlyLog,
): Promise<Engine> {
  return openEngine({
    directory: config.data,
    role: 'server',
    ...options,
    database: config.database,
    store: objectStore(config),
    ...attachableIn(config),
    onEvent: (event) => events.event(event),
    ...config.engine,
    sqlWaitMs: sqlWait(config),
    trino: distributed(config),
    uploadLimits: {
      bytes: config.limits.uploadBytes,
      unpackedBytes: config.limits.unpackedBytes,
      memory: config.limits.uploadMemory,
    },
  })
}

/** The services, with connectors that are opened when they are first needed. `opened` closes them. */
async function openServer(
  given: Pick<ServiceParts, 'config' | 'engine' | 'demo'>,
  events: EarlyLog,
  opened: Closers,
): Promise<Services> {
  const { config, engine } = given
  const connectors = new Lazy(() =>
    openProviders(config, engine.database, ({ level, provider, message, cause }) =>
      events.line(level, message, { provider }, cause),
    ),
  )
  opened.push(async () => (await connectors.present())?.close())
  const warn = (message: string, cause?: unknown) => events.line('warn', message, {}, cause)
  const services = await openServices({
    ...given,
    connectors: () => connectors.get(),
    version: ownVersion(),
    console: builtFolder('./console/dist/'),
    guide: builtFolder('./guide/dist/'),
    warn,
  })
  // Opening them tells whether the configuration names providers that don't exist.
  if (Object.keys(config.providers).length > 0) await connectors.get()
  opened.push(async () => {
    try {
      await services.usage.flush()
    } catch (error) {
      if (!isUnwritable(error)) throw error
      warn('Nothing can be written: the rows that were exported last are not counted.', error)
    }
  })
  return services
}

/** Loads the rest after the first answer, which may be to a health check, so that later requests don't wait for it. */
function warmAfterFirstAnswer(app: FastifyInstance, engine: Engine): void {
  let answered = false
  app.addHook('onResponse', async () => {
    if (answered) return
    answered = true
    engine.warm().catch((error) => app.log.warn({ err: error }, 'DuckDB or its threads could not be started'))
  })
}

async function finish(
  { lifecycle, exports, changeStreams, uploads, config }: Services,
  opened: Closers,
): Promise<void> {
  await lifecycle.leave(config.timeouts.leaving)
  exports.slots.close(stopping)
  changeStreams.slots.close(stopping)
  uploads.slots.close(stopping)
  uploads.smallSlots.close(stopping)
  await lifecycle.drain(config.timeouts.shutdown)
  await closeAll(opened)
}

/** Makes the root account if there is none. Gives its key if the key was generated. */
async function firstAccount(accounts: Accounts, key: string | undefined): Promise<string | undefined> {
  if ((await accounts.list()).some(({ name }) => name === ROOT)) return undefined
  try {
    const made = await accounts.create({
      name: ROOT,
      plan: 'unlimited',
      admin: true,
      ...(key !== undefined && { key }),
    })
    return key === undefined ? made.key : undefined
  } catch (error) {
    // Another node starts at the same moment.
    if (error instanceof ServerError && error.code === 'account_exists') return undefined
    throw error
  }
}

/** @throws the error of listening, if the port is taken or may not be used */
async function checkPort({ host, port }: Config): Promise<void> {
  const probe = createServer().listen({ host, port })
  await once(probe, 'listening')
  await new Promise((resolve) => probe.close(resolve))
}

function urlOf(app: FastifyInstance, host: string): string {
  const address = app.server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

function builtFolder(path: string): string | undefined {
  const folder = fileURLToPath(new URL(path, import.meta.url))
  return existsSync(folder) ? folder : undefined
}

/** What closes what was opened, in the order of the opening. */
type Closers = (() => unknown)[]

/** Closes in the opposite order, even if closing one thing fails; then throws the first failure. */
async function closeAll(opened: Closers): Promise<void> {
  const failures: unknown[] = []
  for (let close = opened.pop(); close; close = opened.pop()) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
