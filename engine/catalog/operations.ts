/** What may make a version. */
export const OPERATIONS = [
  'create',
  'replace',
  'append',
  'upsert',
  'edit',
  'delete',
  'columns',
  'refresh',
  'restore',
] as const

export type Operation = (typeof OPERATIONS)[number]
