import type { FastifyRequest } from 'fastify'
import { type Dataset, type DatasetRecord, EngineError, type Handle } from '../../engine/index.ts'
import type { RepositoryAccess } from '../accounts/access.ts'
import { ServerError } from '../http/errors.ts'
import { recordTag } from '../http/headers.ts'
import type { Permission } from '../records/index.ts'
import type { Services } from '../services.ts'

/**
 * The dataset in the path, and the owner of its repository, if the account has the permission. In a transaction, nobody else can change the dataset
 * until the transaction ends.
 * @throws EngineError `not_found`, ServerError `forbidden`
 */
export async function datasetFor(
  request: FastifyRequest,
  { engine, access }: Pick<Services, 'engine' | 'access'>,
  permission: Permission,
  t?: Handle,
): Promise<{ dataset: Dataset; record: DatasetRecord; owner: RepositoryAccess['owner'] }> {
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
  const { owner } = await (t ? access.in(t) : access).require(
    record.repositoryId,
    request.account,
    permission,
  )
  return { dataset, record, owner }
}

/** The entity tag of a dataset, which changes with its metadata, columns or rows. */
export function tagOf({
  id,
  repositoryId,
  name,
  description,
  version,
  updatedAt,
}: Omit<DatasetRecord, 'query'>): string {
  return recordTag(id, repositoryId, name, description, version, updatedAt)
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
