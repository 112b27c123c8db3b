import { createHash } from 'node:crypto'
import type { QueryOptions } from './options.ts'
import type { Plan } from './plan.ts'

/** A text that changes with the rows, which `identity` identifies, and with the query, and reveals nothing about them. */
export function etagOf(identity: string, options: QueryOptions, plan: Plan): string {
  return (
    createHash('sha256')
      // The compiled filter is part of it, because now() is another moment each time.
      .update(JSON.stringify([identity, options, plan.filter, plan.steps, plan.stepParameters]))
      .digest('base64url')
      .slice(0, 22)
  )
}
