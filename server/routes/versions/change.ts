import type { FastifyRequest } from 'fastify'
import type { Dataset, DatasetRecord, EditedRows, Handle } from '../../../engine/index.ts'
import type { Account } from '../../accounts/accounts.ts'
import type { Keep } from '../../accounts/idempotency.ts'
import { requireMatch } from '../../http/preconditions.ts'
import type { Services } from '../../services.ts'
import { notFollowing } from '../../sources/conflicts.ts'
import { datasetFor, tagOf } from '../dataset-for.ts'

/** A change of the rows of a dataset that the account may make. */
export interface RowsChange {
  readonly dataset: Dataset
  readonly record: DatasetRecord
  /** The owner of the repository, whose plan applies. */
  readonly owner: Account
  /**
   * For the transaction that makes the change: checks `If-Match` and the plan, and keeps what is answered.
   * @throws ServerError `changed_meanwhile`, `plan_limit`
   */
  readonly accept: (
    keep: Keep,
  ) => (
    made: { readonly columns: number; readonly bytes: number; readonly edited?: EditedRows },
    t: Handle,
  ) => Promise<void>
}

/** @throws EngineError `not_found`, ServerError `forbidden`, `follows_series` */
export async function rowsChange(request: FastifyRequest, services: Services): Promise<RowsChange> {
  const { access, accounts, plans, sources } = services
  const { dataset, record } = await datasetFor(request, services, 'Write')
  await notFollowing(sources, record.id)
  const owner = await accounts.get((await access.of(record.repositoryId, request.account)).ownerId)
  return {
    dataset,
    record,
    owner,
    accept:
      (keep) =>
      async ({ edited, ...made }, t) => {
        requireMatch(request, tagOf(await dataset.record(t)))
        await plans.allowContent(owner, access.in(t), made, record.id)
        await keep(t, async () => edited)
      },
  }
}
