import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyTypeProvider } from 'fastify'
import {
  type Dataset,
  type DatasetRecord,
  type EditedRows,
  EngineError,
  type Handle,
  pastVersion,
} from '../../engine/index.ts'
import { fromHttp, VERSION } from '../../engine/options.ts'
import { rowsTag } from '../../engine/plan/plan.ts'
import { identityOf } from '../../engine/snapshot.ts'
import type { RepositoryAccess, Right } from '../accounts/access.ts'
import type { Keep } from '../accounts/idempotency.ts'
import { ServerError } from '../http/errors.ts'
import { isConditional, recordTag, requireMatch } from '../http/headers.ts'
import type { Permission } from '../records/index.ts'
import type { FromSchema } from '../records/schema.ts'
import type { Services } from '../services.ts'

/** Bodies and query strings have the types of the route's schema, and so have its answers, which may be streamed. */
interface RouteTypes extends FastifyTypeProvider {
  readonly validator: FromSchema<this['schema']>
  readonly serializer: FromSchema<this['schema']> | Readable
}

declare const app: FastifyInstance

/** The type of an application to which routes are added. */
export type Routes = ReturnType<typeof app.withTypeProvider<RouteTypes>>

/**
 * The dataset in the path, the owner of its repository and the account's right, if the account has the permission. In a transaction, nobody
 * else can change the dataset until the transaction ends.
 * @throws EngineError `not_found`, ServerError `forbidden`
 */
export async function datasetFor(
  request: FastifyRequest,
  { engine, access }: Pick<Services, 'engine' | 'access'>,
  permission: Permission,
  t?: Handle,
): Promise<{ dataset: Dataset; record: DatasetRecord } & Pick<RepositoryAccess, 'owner' | 'right'>> {
  const id = pathId(request, 'dataset')
  const dataset = await engine.dataset(id).catch((error: unknown) => {
    if (!(error instanceof EngineError) || error.code !== 'not_found') throw error
    throw new EngineError(
      'not_found',
      `There is no dataset ${id}; GET /datasets lists those that you may read.`,
    )
  })
  await t?.lock('datasets', dataset.id)
  const record = await dataset.record(t)
  const { owner, right } = await (t ? access.in(t) : access).require(
    record.repositoryId,
    request.account,
    permission,
  )
  return { dataset, record, owner, right }
}

/** A record as an account sees it: the text of a saved query is only for those who may write. */
export function shown<Shown extends { readonly query?: object }>(
  record: Shown,
  right: Right | undefined,
): Shown | Omit<Shown, 'query'> {
  if (right === 'Own' || right === 'Write') return record
  const { query: _, ...rest } = record
  return rest
}

/** The entity tag of a dataset, which changes with its metadata, columns or rows. */
export function tagOf(record: Omit<DatasetRecord, 'query'>): string {
  const { id, repositoryId, name, description, version, updatedAt } = record
  return recordTag(id, repositoryId, name, description, version, updatedAt)
}

/**
 * The version that the parameters `$version` and `asOf` mean; undefined where neither is given. The answer then says
 * which version it is, and when that was made (RFC 7089).
 * @param prefix of all paths of the service
 * @throws EngineError `not_found`, `version_gone`, `invalid_option`
 */
export async function requestedVersion(dataset: Dataset, query: object, reply: FastifyReply, prefix: string) {
  const past = pastVersion(fromHttp(query, VERSION))
  if (past === undefined) return undefined
  const found = await dataset.find(past)
  reply.headers({
    'memento-datetime': new Date(found.createdAt).toUTCString(),
    link: `<${prefix}/datasets/${dataset.id}/versions/${found.number}>; rel="memento"`,
  })
  return found
}

/** Refuses a change of rows if they, or the record, are no longer as the client saw them. @throws ServerError `changed_meanwhile` */
export function requireRows(request: FastifyRequest, record: DatasetRecord): void {
  requireMatch(request, tagOf(record), rowsTag(identityOf(record.id, record.version)))
}

interface Made {
  readonly columns: number
  readonly bytes: number
  readonly edited?: EditedRows
}

/** What plans were found to allow: writes that are committed together have one content, and hold others up meanwhile. */
const allowed = new WeakSet<Made>()

/**
 * The dataset whose rows the account may change, and the owner of its repository, whose plan applies. `accept` is for the
 * transaction that makes the change: it checks `If-Match` and the plan, and keeps what is answered.
 * @throws EngineError `not_found`, ServerError `forbidden`, `follows_series`
 */
export async function rowsChange(request: FastifyRequest, services: Services) {
  const { access, plans, sources } = services
  const { dataset, record, owner } = await datasetFor(request, services, 'Write')
  await sources.requireNone(record.id)
  return {
    dataset,
    record,
    owner,
    /** @throws ServerError `changed_meanwhile`, `plan_limit` */
    accept:
      (keep: Keep) =>
      async (content: Made, t: Handle): Promise<void> => {
        const { edited, ...made } = content
        if (isConditional(request)) requireRows(request, await dataset.record(t))
        if (!allowed.has(content)) await plans.allowContent(owner, access.in(t), made, record.id)
        allowed.add(content)
        await keep(t, async () => edited)
      },
  }
}

/**
 * Answers with what a request has made, and where that is.
 * @param hasKey whether it contains a key, which no cache may keep
 */
export function created<T>(reply: FastifyReply, location: string, made: T, hasKey = false): T {
  reply.code(201).header('location', location)
  if (hasKey) reply.header('cache-control', 'no-store')
  return made
}

/** A parameter of the path, percent-decoded. */
export function pathParameter(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? ''
}

/** The number of a version in the path. @throws ServerError `not_found` */
export function pathVersion(request: FastifyRequest): number {
  const text = pathParameter(request, 'version')
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new ServerError(
    'not_found',
    `There is no version ${JSON.stringify(text)}; versions are whole numbers.`,
  )
}

const LISTS = { repository: '/repositories', dataset: '/datasets', link: '/links' } as const

/** The id in the path. Text that is no id gives the same error as an unknown id. @throws ServerError `not_found` */
export function pathId(request: FastifyRequest, what: keyof typeof LISTS): number {
  const text = pathParameter(request, 'id')
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new ServerError(
    'not_found',
    `There is no ${what} ${JSON.stringify(text)}; ids are whole numbers from 1, and GET ${LISTS[what]} lists them.`,
  )
}
