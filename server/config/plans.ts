import type { FromSchema } from '../records/schema.ts'

const GIB = 2 ** 30

/** null is "no limit". */
export const quota = { type: ['integer', 'null'], minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const

const PLAN = {
  privateRepositories: quota,
  paidProviders: { type: 'boolean' },
  exportedRows: { ...quota, about: 'Rows of datasets downloaded in a calendar month, UTC.' },
  datasets: { ...quota, about: 'Datasets in the repositories of an account.' },
  columns: { ...quota, about: 'Columns of one dataset.' },
  storedBytes: { ...quota, about: 'Bytes on disk of all datasets in the repositories of an account.' },
  keptVersions: { ...quota, about: 'Versions that a dataset may keep.' },
  keptDays: { ...quota, about: 'Days for which it may keep them.' },
} as const

/** What a plan allows; null is "no limit". */
export type PlanLimits = { readonly [Name in keyof typeof PLAN]: FromSchema<(typeof PLAN)[Name]> }

/** The schema of a plan in which these limits need not be given. */
function plan(defaults: Partial<PlanLimits>) {
  const properties = Object.entries(PLAN).map(([name, schema]) => {
    const value = defaults[name as keyof PlanLimits]
    return [name, value === undefined ? schema : { ...schema, default: value }]
  })
  return {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(PLAN) as (keyof PlanLimits)[],
    properties: Object.fromEntries(properties) as typeof PLAN,
  } as const
}

/** The limits of the plans that exist without configuration. */
const BUILT_IN = {
  privateRepositories: { free: 1, pro: 50, unlimited: null },
  paidProviders: { free: false, pro: true, unlimited: true },
  exportedRows: { free: 1_000_000, pro: 100_000_000, unlimited: null },
  datasets: { free: 100, pro: 10_000, unlimited: null },
  columns: { free: 2_000, pro: 20_000, unlimited: null },
  storedBytes: { free: 10 * GIB, pro: 1024 * GIB, unlimited: null },
  keptVersions: { free: 100, pro: 10_000, unlimited: null },
  keptDays: { free: 366, pro: 36_525, unlimited: null },
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
    datasets: null,
    columns: null,
    storedBytes: null,
    keptVersions: null,
    keptDays: null,
  }),
} as const
