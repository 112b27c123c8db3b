import type { Caller, Connectors, ProviderInfo, UserKey } from '../../connectors/index.ts'
import type { Account } from '../accounts/accounts.ts'
import type { Plans } from '../accounts/plans.ts'
import type { UserKeys } from '../accounts/user-keys.ts'
import type { Config } from '../config/schema.ts'
import { ServerError } from '../http/errors.ts'
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
  const userKey = await services.userKeys.has(account, slug)
  return {
    slug,
    name,
    description,
    homepage,
    tier: (await isPaid(services, account, info)) ? 'paid' : 'free',
    keyRequired: info.key === 'required',
    takesKey: info.key !== 'none',
    userKey,
    limit: connectors.limit(slug, userKey ? await readableKey(services, account, slug) : undefined),
  }
}

/** The account's key. One that can't be decrypted is left out: the error would prevent the list of all providers. */
async function readableKey(
  services: CallerParts,
  account: Account,
  slug: string,
): Promise<UserKey | undefined> {
  try {
    return await ownKey(services, account, slug)
  } catch (error) {
    if (error instanceof ServerError && error.code === 'user_key_unreadable') return undefined
    throw error
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
  if (await isPaid(services, account, info)) services.plans.allowPaidProvider(account, info.name)
  const userKey = await ownKey(services, account, info.slug)
  return { info, caller: { signal, ...(userKey && { userKey }) } }
}

/**
 * Whether a paid plan is needed. If only the service's own key costs, an account with its own key does not need one.
 */
async function isPaid(
  { config, userKeys }: CallerParts,
  account: Account,
  info: ProviderInfo,
): Promise<boolean> {
  if (info.tier !== 'shared-key') return info.tier === 'paid'
  return config.providers[info.slug]?.key !== undefined && !(await userKeys.has(account, info.slug))
}

async function ownKey(
  { userKeys }: CallerParts,
  account: Account,
  slug: string,
): Promise<UserKey | undefined> {
  const key = await userKeys.reveal(account, slug)
  return key === undefined ? undefined : { owner: String(account.id), key }
}
