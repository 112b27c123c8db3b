import type { Keep } from '../../engine/index.ts'
import type { PlanLimits } from '../config/plans.ts'
import type { Config } from '../config/schema.ts'
import { ServerError } from '../http/errors.ts'
import type { Access, RepositoryAccess } from './access.ts'
import type { Account } from './accounts.ts'

type Owner = RepositoryAccess['owner']

/** The limits of the plans. Refuses what they don't allow. */
export class Plans {
  readonly #plans: Config['plans']

  constructor(plans: Config['plans']) {
    this.#plans = plans
  }

  get names(): string[] {
    return Object.keys(this.#plans)
  }

  limits(plan: string): PlanLimits {
    const limits = this.#plans[plan]
    if (!limits) throw new Error(`plan ${plan} is not configured`)
    return limits
  }

  /**
   * Refuses a further private repository if the owner's plan allows no more. Call it in the transaction that makes it.
   * @throws ServerError `plan_limit`
   */
  async allowPrivateRepository(owner: Owner, access: Access): Promise<void> {
    const most = this.limits(owner.plan).privateRepositories
    if (most === null) return
    await access.holdOwned(owner.id)
    if ((await access.privateRepositories(owner.id)) < most) return
    const way = '; one with `"private": false` is not limited, and every account may read it'
    throw limit('private repositories', owner, most, way)
  }

  /**
   * Refuses a further dataset if the plan of the repository's owner allows no more. Call it in the transaction that
   * makes it.
   * @throws ServerError `plan_limit`
   */
  async allowDataset(owner: Owner, access: Access): Promise<void> {
    const most = this.limits(owner.plan).datasets
    if (most === null) return
    await access.holdOwned(owner.id)
    if ((await access.datasets(owner.id)) < most) return
    throw limit('datasets', owner, most)
  }

  /**
   * Refuses content with more columns in the dataset, or more bytes in all datasets, than the owner's plan allows.
   * @param made the columns and bytes that the dataset would have; its present bytes are not counted
   * @throws ServerError `plan_limit`
   */
  async allowContent(
    owner: Owner,
    access: Access,
    made: { columns: number; bytes: number },
    datasetId?: number,
  ): Promise<void> {
    const { columns, storedBytes } = this.limits(owner.plan)
    if (columns !== null && made.columns > columns) {
      throw limit('columns', owner, columns, ` in a dataset, and this one has ${made.columns}`)
    }
    if (storedBytes === null) return
    await access.holdOwned(owner.id)
    const bytes = (await access.storedBytes(owner.id, datasetId)) + made.bytes
    if (bytes > storedBytes) {
      throw limit('stored bytes', owner, storedBytes, `, and this change would bring them to ${bytes}`)
    }
  }

  /** Refuses to keep versions for longer than the owner's plan allows. @throws ServerError `plan_limit` */
  allowKeep(owner: Owner, { versions, days }: Partial<Keep>): void {
    const { keptVersions, keptDays } = this.limits(owner.plan)
    if ((versions ?? 0) > (keptVersions ?? Infinity)) throw limit('kept versions', owner, keptVersions!)
    if ((days ?? 0) > (keptDays ?? Infinity))
      throw limit('days for which versions are kept', owner, keptDays!)
  }

  /** @throws ServerError `plan_limit` */
  allowPaidProvider(account: Account, provider: string): void {
    if (this.limits(account.plan).paidProviders) return
    throw new ServerError(
      'plan_limit',
      `${provider} is a paid-tier provider, and the plan ${account.plan} does not include paid providers.`,
    )
  }
}

function limit(what: string, { name, plan }: Owner, most: number, more = ''): ServerError {
  return new ServerError(
    'plan_limit',
    `The limit of ${what} is reached: the plan ${plan} of account ${name} allows ${most}${more}.`,
  )
}
