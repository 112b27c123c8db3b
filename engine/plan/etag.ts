import { createHash } from 'node:crypto'
import type { QueryOptions } from './options.ts'
import type { Plan } from './plan.ts'

/** A text that changes with the rows, which `identity` identifies, and with the query, and reveals nothing about them. */
export function etagOf(identity: string, options: QueryOptions, plan: Plan): string {
  // What was compiled is part of it, because now() is another moment each time.
  const compiled = [plan.steps, plan.stepParameters, plan.filter, plan.orderParameters]
  return createHash('sha256')
    .update(JSON.stringify([identity, options, ...compiled]))
    .digest('base64url')
    .slice(0, 22)
}
