import type { FastifyRequest } from 'fastify'
import { type Dataset, type DatasetRecord, EngineError, type Handle } from '../../engine/index.ts'
import { recordTag } from '../http/preconditions.ts'
import type { Permission } from '../records/index.ts'
import type { Services } from '../services.ts'
import { pathId } from './ids.ts'

/**
 * The dataset in the path, if the account has the permission. In a transaction, nobody else can change the dataset
 * until the transaction ends.
 * @throws EngineError `not_found`, ServerError `forbidden`
 */
export async function datasetFor(
  request: FastifyRequest,
  { engine, access }: Pick<Services, 'engine' | 'access'>,
  permission: Permission,
  t?: Handle,
): Promise<{ dataset: Dataset; record: DatasetRecord }> {
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
  await (t ? access.in(t) : access).require(record.repositoryId, request.account, permission)
  return { dataset, record }
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
