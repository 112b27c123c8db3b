import type { Caller, Connectors, ProviderInfo, UserKey } from '../../connectors/index.ts'
import type { Account } from '../accounts/accounts.ts'
import type { Plans } from '../accounts/plans.ts'
import type { UserKeys } from '../accounts/user-keys.ts'
import type { Config } from '../config/schema.ts'
import type { Provider } from '../records/index.ts'

/** The services needed to find the caller of a provider and its key. */
export interface CallerParts {
  readonly config: Config
  readonly connectors: () => Promise<Connectors>
  readonly plans: Plans
  readonly userKeys: UserKeys
}

/** A provider as one account sees it: `tier` and `limit` depend on whose key is used. */
export async function providerRecord(
  services: CallerParts,
  account: Account,
  info: ProviderInfo,
): Promise<Provider> {
  const { slug, name, description, homepage } = info
  const connectors = await services.connectors()
  // One that can't be decrypted is left out of the limit: the error would prevent the list of all providers.
  const saved = await services.userKeys.find(account, slug)
  return {
    slug,
    name,
    description,
    homepage,
    tier: isPaid(services, info, saved !== undefined) ? 'paid' : 'free',
    keyRequired: info.key === 'required',
    takesKey: info.key !== 'none',
    userKey: saved !== undefined,
    limit: connectors.limit(slug, keyOf(account, saved?.text)),
  }
}

/**
 * The provider with a slug, and the caller for it, which has the account's own key if there is one.
 * @throws ConnectorError `unknown_provider`, ServerError `plan_limit`, `user_key_unreadable`
 */
export async function callerOf(
  services: CallerParts,
  account: Account,
  givenSlug: string,
  signal: AbortSignal,
): Promise<{ info: ProviderInfo; caller: Caller }> {
  const info = (await services.connectors()).get(givenSlug)
  const userKey = keyOf(account, await services.userKeys.reveal(account, info.slug))
  if (isPaid(services, info, userKey !== undefined)) services.plans.allowPaidProvider(account, info.name)
  return { info, caller: { signal, account: String(account.id), ...(userKey && { userKey }) } }
}

/**
 * Whether a paid plan is needed. If only the service's own key costs, an account with its own key does not need one.
 */
function isPaid({ config }: CallerParts, { slug, tier }: ProviderInfo, hasOwnKey: boolean): boolean {
  return tier === 'shared-key' ? config.providers[slug]?.key !== undefined && !hasOwnKey : tier === 'paid'
}

function keyOf(account: Account, key: string | undefined): UserKey | undefined {
  return key === undefined ? undefined : { owner: String(account.id), key }
}
