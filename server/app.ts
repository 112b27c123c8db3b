import { randomUUID } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import Fastify, { type FastifyInstance, type FastifyPluginAsync, LogController } from 'fastify'
import type { Config } from './config/schema.ts'
import { authenticate } from './guards/authenticate.ts'
import { continueLate, refuseMalformed, refuseOtherSites } from './guards/requests.ts'
import { followRequests } from './guards/uncaught.ts'
import { rawQuery } from './http/addresses.ts'
import { answerClientError, answerErrors, answerFrameworkError } from './http/answer-errors.ts'
import { ServerError } from './http/errors.ts'
import { addPublicUrl, addSecurityHeaders, addValidators, allowOrigins } from './http/headers.ts'
import { COMPILERS, type QuerySchema, readJsonBodies, readQuery, validateStrictly } from './http/input.ts'
import { traceRequests } from './http/metrics.ts'
import { serveConsole, serveGuide } from './http/pages.ts'
import { icebergRoutes } from './iceberg/routes.ts'
import { loggerOptions } from './logger.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { odataRoutes } from './odata/routes.ts'
import { describeRoutes } from './openapi/document.ts'
import { accountKeyRoutes, accountRoutes, accountsRoutes } from './routes/accounts.ts'
import { byNameRoutes } from './routes/by-name.ts'
import { changesRoutes } from './routes/changes.ts'
import { dataRoutes } from './routes/data.ts'
import { columnRoutes, datasetRoutes, newDatasetRoutes } from './routes/datasets.ts'
import { linkRoutes } from './routes/links.ts'
import { metadataRoutes, profileRoutes } from './routes/metadata.ts'
import { parquetRoutes } from './routes/parquet.ts'
import { providerRoutes, searchRoutes } from './routes/providers/providers.ts'
import { releaseRoutes } from './routes/providers/releases.ts'
import { seriesTableRoutes } from './routes/providers/series-table.ts'
import { userKeyRoutes } from './routes/providers/user-keys.ts'
import { memberRoutes, repositoryRoutes } from './routes/repositories.ts'
import { revisionRoutes } from './routes/revisions.ts'
import type { Routes } from './routes/routes.ts'
import { serviceRoutes } from './routes/service.ts'
import { sourceRoutes } from './routes/source.ts'
import { sqlRoutes } from './routes/sql.ts'
import { uploadRoutes } from './routes/uploads.ts'
import { editRoutes, versionRoutes } from './routes/versions.ts'
import type { Services } from './services.ts'

/** The service as a Fastify application of its own. `log` receives the lines of the log instead of standard output. */
export function buildApp(services: Services, log?: { write(line: string): void }): FastifyInstance {
  const { limits, timeouts, trustedProxies } = services.config
  const app = Fastify({
    logger: loggerOptions(services.config, log),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'id' }),
    genReqId: () => randomUUID(),
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    // `refuseMalformed` answers a missing Host in JSON.
    http: { maxHeaderSize: limits.headerBytes, requireHostHeader: false },
    rewriteUrl: ({ url = '/' }) => originForm(url),
    bodyLimit: limits.bodyBytes,
    connectionTimeout: timeouts.idle,
    requestTimeout: timeouts.transfer,
    forceCloseConnections: true,
    // Ids of series may be long. Query strings are read by `readQuery`, with the schema of the route.
    routerOptions: { maxParamLength: 8_192, querystringParser: () => ({}) },
    schemaController: { compilersFactory: COMPILERS },
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerClientError,
  })
  continueLate(app)
  app.register(parquetry(services))
  return app
}

/** The path and query of a request's target, which may be given with scheme and host as well (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?]*/i, '')
  return path.startsWith('?') || path === '' ? `/${path}` : path
}

/**
 * The service as a plugin for another Fastify application, possibly under a prefix. The limits of headers, connections
 * and path parameters are then those of that application.
 *
 * A request passes these checks in this order, and each can refuse it: malformed HTTP (400), server being stopped
 * (503), overload (503), authentication (401, 429), a page of another site (403), query string (400), body (400, 413,
 * 415). Then its route's handler runs.
 */
export function parquetry(services: Services): FastifyPluginAsync {
  const { config, lifecycle, metrics } = services
  return async (app) => {
    await describeRoutes(app, services.version, app.prefix)
    validateStrictly(app)
    readJsonBodies(app)
    traceRequests(app, metrics)
    followRequests(app)
    addSecurityHeaders(app)
    addPublicUrl(app, config.publicUrl)
    answerErrors(app, metrics, services.guide && `${app.prefix}/guide/errors/`)
    drainUnreadBodies(app)
    refuseMalformed(app, config.limits.headerBytes)
    lifecycle.guard(app)
    await allowOrigins(app, config.cors.origins)
    addValidators(app, config.cors.origins)
    shedLoad(app, config)
    const { database } = services.engine
    if (database.isShared) app.addHook('onRequest', (_request, _reply, done) => database.answering(done))
    await authenticate(app, services)
    refuseOtherSites(app, config.cors.origins)
    // Reading the body loses what the first hook has begun.
    if (database.isShared) app.addHook('preHandler', (_request, _reply, done) => database.answering(done))
    app.addHook('preValidation', async (request) => {
      const { config: route, schema } = request.routeOptions
      // What is wrong with the query of a request that nothing answers does not matter.
      if (!route.public && !request.is404) {
        request.query = readQuery(rawQuery(request.url), schema?.querystring as QuerySchema | undefined)
      }
    })

    app.addHook('onClose', async () => {
      services.snapshots.clear()
      services.exports.files.clear()
    })

    const routes: Routes = app.withTypeProvider()
    repositoryRoutes(routes, services)
    memberRoutes(routes, services)
    datasetRoutes(routes, services)
    newDatasetRoutes(routes, services)
    columnRoutes(routes, services)
    metadataRoutes(routes, services)
    profileRoutes(routes, services)
    dataRoutes(routes, services)
    byNameRoutes(routes, services)
    sqlRoutes(routes, services)
    uploadRoutes(routes, services)
    editRoutes(routes, services)
    parquetRoutes(routes, services)
    versionRoutes(routes, services)
    changesRoutes(routes, services)
    revisionRoutes(routes, services)
    linkRoutes(routes, services)
    providerRoutes(routes, services)
    releaseRoutes(routes, services)
    seriesTableRoutes(routes, services)
    searchRoutes(routes, services)
    sourceRoutes(routes, services)
    userKeyRoutes(routes, services)
    accountRoutes(routes, services)
    accountKeyRoutes(routes, services)
    accountsRoutes(routes, services)
    serviceRoutes(routes, services)
    mcpRoutes(app)
    odataRoutes(app, services)
    icebergRoutes(app, services)
    if (services.console) serveConsole(app, services.console, services.demo)
    if (services.guide) serveGuide(app, services.guide)
  }
}

const SAMPLE_MS = 500
const RESOLUTION_MS = 10

/** Refuses requests early while the event loop lags behind or memory is short. */
function shedLoad(app: FastifyInstance, { shedding }: Config): void {
  // If the surrounding application sheds load itself, with @fastify/under-pressure, that is enough.
  if (app.hasDecorator('isUnderPressure')) return
  const { eventLoopDelay: longest, memoryBytes: most } = shedding
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  let delay = 0
  let memory = 0
  const timer = setInterval(() => {
    // A window without a sample, as while a program starts, has no mean. A real delay shows in the next window.
    delay = Number.isNaN(delays.mean) ? 0 : delays.mean / 1e6 - RESOLUTION_MS
    delays.reset()
    try {
      memory = process.memoryUsage.rss()
    } catch {
      // It reads a file, for which there may be no descriptor. The last sample counts until there is one.
    }
  }, SAMPLE_MS).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    delays.disable()
  })
  app.addHook('onRequest', (request, _reply, done) => {
    const isBusy = (longest > 0 && delay > longest) || (most > 0 && memory > most)
    if (!isBusy || request.routeOptions.config.always) return done()
    done(new ServerError('busy', 'The server is overloaded. Try again in a few seconds.'))
  })
}

/** How long a client may go on sending a refused body. Many clients read the answer only after they have sent all. */
const LINGER_MS = 5_000

function drainUnreadBodies(app: FastifyInstance): void {
  app.addHook('onResponse', (request, _reply, done) => {
    const { raw } = request
    if (!raw.complete) {
      raw.unpipe().resume()
      const timer = setTimeout(() => raw.destroy(), LINGER_MS).unref()
      raw.once('close', () => clearTimeout(timer))
    }
    done()
  })
}
