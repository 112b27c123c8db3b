import { LIMITS } from '../records/accounts.ts'
import type { FromSchema, JsonSchema } from '../records/schema.ts'

const GIB = 2 ** 30

/** What a plan allows; null is "no limit". */
export type PlanLimits = FromSchema<typeof LIMITS>

/** The schema of a plan in which these limits need not be given. */
function plan(defaults: Partial<PlanLimits>) {
  const properties = Object.entries<JsonSchema>(LIMITS.properties).map(([name, limit]) => {
    const { description: about = '', ...schema } = limit
    const value = defaults[name as keyof PlanLimits]
    return [name, { ...schema, about, ...(value !== undefined && { default: value }) }]
  })
  return { ...LIMITS, properties: Object.fromEntries(properties) as typeof LIMITS.properties } as const
}

/** The limits of the plans that exist without configuration. */
const BUILT_IN = {
  privateRepositories: { free: 1, pro: 50, unlimited: null },
  publicRepositories: { free: 100, pro: 10_000, unlimited: null },
  paidProviders: { free: false, pro: true, unlimited: true },
  exportedRows: { free: 1_000_000, pro: 100_000_000, unlimited: null },
  datasets: { free: 100, pro: 10_000, unlimited: null },
  columns: { free: 2_000, pro: 20_000, unlimited: null },
  storedBytes: { free: 10 * GIB, pro: 1024 * GIB, unlimited: null },
  keptVersions: { free: 100, pro: 10_000, unlimited: null },
  keptDays: { free: 366, pro: 36_525, unlimited: null },
  refreshSeconds: { free: 60, pro: 600, unlimited: null },
} as const satisfies Record<keyof PlanLimits, unknown>

function builtIn(name: 'free' | 'pro' | 'unlimited') {
  const limits = Object.entries(BUILT_IN).map(([limit, values]) => [limit, values[name]])
  return { ...plan(Object.fromEntries(limits)), default: {} } as const
}

/** The plans of accounts. Each limit of those that exist without configuration can be changed separately. */
export const PLANS = {
  type: 'object',
  default: {},
  required: ['free', 'pro', 'unlimited'],
  properties: { free: builtIn('free'), pro: builtIn('pro'), unlimited: builtIn('unlimited') },
  // What plans that are added need not name is not limited.
  additionalProperties: plan({
    publicRepositories: null,
    datasets: null,
    columns: null,
    storedBytes: null,
    keptVersions: null,
    keptDays: null,
    refreshSeconds: null,
  }),
} as const
