import { randomUUID } from 'node:crypto'
import staticFiles from '@fastify/static'
import underPressure from '@fastify/under-pressure'
import Fastify, { type FastifyInstance, type FastifyPluginAsync, LogController } from 'fastify'
import type { Config } from './config/config.ts'
import { answerClientError, answerErrors, answerFrameworkError } from './http/answer-errors.ts'
import { readJsonBodies } from './http/body.ts'
import { ServerError } from './http/errors.ts'
import { authenticate } from './http/guards/authenticate.ts'
import { refuseOtherSites } from './http/guards/cross-site.ts'
import { continueLate, refuseAmbiguousRequests, refuseLongLines } from './http/guards/strict-http.ts'
import { addSecurityHeaders, allowOrigins } from './http/headers.ts'
import { loggerOptions } from './http/logger.ts'
import { Paths } from './http/paths.ts'
import { type QuerySchema, rawQuery, readQuery } from './http/query.ts'
import { traceRequests } from './http/trace.ts'
import { COMPILERS, validateStrictly } from './http/validate.ts'
import { icebergRoutes } from './iceberg/routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { odataRoutes } from './odata/routes.ts'
import { describeRoutes } from './openapi/document.ts'
import { accountRoutes } from './routes/account.ts'
import { accountKeyRoutes } from './routes/account-keys.ts'
import { accountsRoutes } from './routes/accounts.ts'
import { dataRoutes } from './routes/data.ts'
import { datasetRoutes } from './routes/datasets.ts'
import { linkRoutes } from './routes/links.ts'
import { memberRoutes } from './routes/members.ts'
import { parquetRoutes } from './routes/parquet.ts'
import { providerRoutes } from './routes/providers/providers.ts'
import { searchRoutes } from './routes/providers/search.ts'
import { seriesTableRoutes } from './routes/providers/series-table.ts'
import { userKeyRoutes } from './routes/providers/user-keys.ts'
import { repositoryRoutes } from './routes/repositories.ts'
import type { Routes } from './routes/routes.ts'
import { serviceRoutes } from './routes/service.ts'
import { sourceRoutes } from './routes/source.ts'
import type { Services } from './services.ts'

/** The service as a Fastify application of its own. `log` receives the lines of the log instead of standard output. */
export function buildApp(services: Services, log?: { write(line: string): void }): FastifyInstance {
  const { limits, timeouts, trustedProxies } = services.config
  const app = Fastify({
    logger: loggerOptions(services.config, log),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'id' }),
    genReqId: () => randomUUID(),
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    http: { maxHeaderSize: limits.headerBytes },
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
    const paths = new Paths()
    paths.collect(app)
    describeRoutes(app, services.version, app.prefix)
    validateStrictly(app)
    readJsonBodies(app)
    traceRequests(app, metrics)
    addSecurityHeaders(app)
    answerErrors(app, paths, metrics)
    drainUnreadBodies(app)
    refuseAmbiguousRequests(app)
    refuseLongLines(app, config.limits.headerBytes)
    lifecycle.guard(app)
    await allowOrigins(app, config.cors.origins)
    await shedLoad(app, config)
    authenticate(app, services)
    refuseOtherSites(app, config.cors.origins)
    const { database } = services.engine
    if (database.isShared) app.addHook('preHandler', (_request, _reply, done) => database.answering(done))
    app.addHook('preValidation', async (request) => {
      const { config: route, schema } = request.routeOptions
      if (!route.public) {
        request.query = readQuery(rawQuery(request.url), schema?.querystring as QuerySchema | undefined)
      }
    })

    app.addHook('onClose', async () => services.kept.clear())

    const routes: Routes = app.withTypeProvider()
    repositoryRoutes(routes, services)
    memberRoutes(routes, services)
    datasetRoutes(routes, services)
    dataRoutes(routes, services)
    parquetRoutes(routes, services)
    linkRoutes(routes, services)
    providerRoutes(routes, services)
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
    if (services.console) serveConsole(app, services.console)
  }
}

/** Refuses requests early while the event loop lags behind or memory is short. */
async function shedLoad(app: FastifyInstance, { shedding }: Config): Promise<void> {
  // If the surrounding application has registered this plugin already, it sheds load itself.
  if (app.hasDecorator('isUnderPressure')) return
  await app.register(underPressure, {
    maxEventLoopDelay: shedding.eventLoopDelay,
    maxRssBytes: shedding.memoryBytes,
    sampleInterval: 500,
    pressureHandler: async (request, _reply, _type, value) => {
      // The delay is infinite for a window without a sample, as while a program starts. A real delay shows in the next
      // window.
      if (request.routeOptions.config.always || value === Number.POSITIVE_INFINITY) return
      throw new ServerError('busy', 'The server is overloaded. Try again in a few seconds.')
    },
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

const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Serves the built console. Its files need no key; the data that it shows comes from the API, with the user's key. */
function serveConsole(app: FastifyInstance, folder: string): void {
  app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true }
      route.schema = { hide: true }
    })
    scope.get('/console', async (_request, reply) => reply.redirect(`${app.prefix}/console/`))
    await scope.register(staticFiles, {
      root: folder,
      prefix: '/console/',
      decorateReply: !scope.hasReplyDecorator('sendFile'),
      setHeaders: (reply) => reply.header('content-security-policy', CONSOLE_POLICY),
    })
  })
}
