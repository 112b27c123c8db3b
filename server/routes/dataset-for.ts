import type { FastifyRequest } from 'fastify'
import type { Dataset, DatasetRecord, Handle } from '../../engine/index.ts'
import type { Permission } from '../accounts/access.ts'
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
  const dataset = await engine.dataset(pathId(request, 'dataset'))
  await t?.lock('datasets', dataset.id)
  const record = await dataset.record(t)
  await (t ? access.in(t) : access).require(record.repositoryId, request.account, permission)
  return { dataset, record }
}
