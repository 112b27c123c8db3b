import type { FastifyRequest } from 'fastify'
import type { Dataset, DatasetRecord } from '../../engine/index.ts'
import type { Permission } from '../accounts/access.ts'
import type { Services } from '../services.ts'
import { pathId } from './ids.ts'

/** The dataset in the path, for somebody who may. @throws EngineError `not_found`, ServerError `forbidden` */
export function datasetFor(
  request: FastifyRequest,
  { engine, access }: Pick<Services, 'engine' | 'access'>,
  permission: Permission,
): { dataset: Dataset; record: DatasetRecord } {
  const dataset = engine.dataset(pathId(request, 'dataset'))
  const { record } = dataset
  access.require(record.repositoryId, request.account, permission)
  return { dataset, record }
}
