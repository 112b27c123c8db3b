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

/** What plans that are added need not name. */
const NO_LIMITS = { datasets: null, columns: null, storedBytes: null, keptVersions: null, keptDays: null }

/** The plans of accounts. Each limit of those that exist without configuration can be changed separately. */
export const PLANS = {
  type: 'object',
  default: {},
  required: ['free', 'pro', 'unlimited'],
  properties: {
    free: {
      ...plan({
        privateRepositories: 1,
        paidProviders: false,
        exportedRows: 1_000_000,
        datasets: 100,
        columns: 2_000,
        storedBytes: 10 * GIB,
        keptVersions: 100,
        keptDays: 366,
      }),
      default: {},
    },
    pro: {
      ...plan({
        privateRepositories: 50,
        paidProviders: true,
        exportedRows: 100_000_000,
        datasets: 10_000,
        columns: 20_000,
        storedBytes: 1024 * GIB,
        keptVersions: 10_000,
        keptDays: 36_525,
      }),
      default: {},
    },
    unlimited: {
      ...plan({ privateRepositories: null, paidProviders: true, exportedRows: null, ...NO_LIMITS }),
      default: {},
    },
  },
  additionalProperties: plan(NO_LIMITS),
} as const
