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
