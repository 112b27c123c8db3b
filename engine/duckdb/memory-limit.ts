import { totalmem } from 'node:os'
import { EngineError } from '../errors.ts'

/** A size as DuckDB reads it, and not zero: a number with a unit, or a part of the machine's memory. */
export const MEMORY_LIMIT = /^(?=.*[1-9])\d+(\.\d+)? *(%|[KMGTkmgt]([iI]?[bB])?)$/

/** @throws EngineError `invalid_option` if DuckDB could not be opened with this limit */
export function checkMemoryLimit(limit: string | undefined): void {
  if (limit === undefined || (typeof limit === 'string' && MEMORY_LIMIT.test(limit))) return
  throw new EngineError(
    'invalid_option',
    `memoryLimit is ${JSON.stringify(limit)}; it must be a size with a unit, such as "4GiB" or "1536MB", or a part of the memory, such as "30%".`,
  )
}

/** The limit as a size, also where it is a part of the machine's memory, which DuckDB takes only when it is open. */
export function sizeOfLimit(limit = '40%'): string {
  const percent = /^(.*?) *%$/.exec(limit)?.[1]
  if (percent === undefined) return limit
  return `${Math.max(1, Math.round((totalmem() * Number(percent)) / 100 / 2 ** 20))}MiB`
}
