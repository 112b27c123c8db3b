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

/** A plan that exists without configuration; each of its limits can be changed separately. */
function builtIn(limits: PlanLimits) {
  const properties = Object.fromEntries(
    Object.entries(PLAN).map(([name, schema]) => [
      name,
      { ...schema, default: limits[name as keyof PlanLimits] },
    ]),
  )
  return {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(PLAN) as (keyof PlanLimits)[],
    properties: properties as unknown as typeof PLAN,
    default: {},
  } as const
}

/** The plans of accounts. Those that are added name the first three limits; what they don't name has none. */
export const PLANS = {
  type: 'object',
  default: {},
  required: ['free', 'pro', 'unlimited'],
  properties: {
    free: builtIn({
      privateRepositories: 1,
      paidProviders: false,
      exportedRows: 1_000_000,
      datasets: 100,
      columns: 2_000,
      storedBytes: 10 * GIB,
      keptVersions: 100,
      keptDays: 366,
    }),
    pro: builtIn({
      privateRepositories: 50,
      paidProviders: true,
      exportedRows: 100_000_000,
      datasets: 10_000,
      columns: 20_000,
      storedBytes: 1024 * GIB,
      keptVersions: 10_000,
      keptDays: 36_525,
    }),
    unlimited: builtIn({
      privateRepositories: null,
      paidProviders: true,
      exportedRows: null,
      datasets: null,
      columns: null,
      storedBytes: null,
      keptVersions: null,
      keptDays: null,
    }),
  },
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    required: ['privateRepositories', 'paidProviders', 'exportedRows'],
    properties: {
      ...PLAN,
      datasets: { ...quota, default: null },
      columns: { ...quota, default: null },
      storedBytes: { ...quota, default: null },
      keptVersions: { ...quota, default: null },
      keptDays: { ...quota, default: null },
    },
  },
} as const
