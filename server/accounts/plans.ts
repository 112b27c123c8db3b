import type { Config, PlanLimits } from '../config/config.ts'
import { ServerError } from '../http/errors.ts'
import type { Access } from './access.ts'
import type { Account } from './accounts.ts'

/** What the plans allow, and the refusals where they don't. */
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
   * Refuses one private repository more than the owner's plan allows. Call it in the transaction that makes it.
   * @throws ServerError `plan_limit`
   */
  allowPrivateRepository(owner: Account, access: Access): void {
    const most = this.limits(owner.plan).privateRepositories
    if (most === null || access.privateRepositories(owner.id) < most) return
    throw new ServerError(
      'plan_limit',
      `The limit of private repositories is reached: the plan ${owner.plan} of account ${owner.name} allows ${most}.`,
    )
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
