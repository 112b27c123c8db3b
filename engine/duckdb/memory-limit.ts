import { totalmem } from 'node:os'
import { invalidOption } from '../errors.ts'

/** A size as DuckDB reads it, and not zero: a number with a unit, or a part of the machine's memory. */
export const MEMORY_LIMIT = /^(?=.*[1-9])\d+(\.\d+)? *(%|[KMGTkmgt]([iI]?[bB])?)$/

/** DuckDB counts bytes in 64 bits; beyond half of what they hold, no machine has memory. */
const MOST_BYTES = 2 ** 63

/** @throws EngineError `invalid_option` if DuckDB could not be opened with this limit */
export function checkMemoryLimit(limit: string | undefined): void {
  if (limit === undefined) return
  if (typeof limit === 'string' && MEMORY_LIMIT.test(limit) && bytesOf(limit) < MOST_BYTES) return
  throw invalidOption(
    `memoryLimit is ${JSON.stringify(limit)}; it must be a size with a unit, such as "4GiB" or "1536MB", or a part of the memory, such as "30%".`,
  )
}

/** The bytes that a limit is, with units in steps of 1,024. */
function bytesOf(limit: string): number {
  const unit = /%|[kmgt]/i.exec(limit)![0]
  if (unit === '%') return (totalmem() * Number.parseFloat(limit)) / 100
  return Number.parseFloat(limit) * 1024 ** (1 + 'kmgt'.indexOf(unit.toLowerCase()))
}

/** The limit as a size, also where it is a part of the machine's memory, which DuckDB takes only when it is open. */
export function sizeOfLimit(limit = '40%'): string {
  return limit.endsWith('%') ? `${Math.max(1, Math.round(bytesOf(limit) / 2 ** 20))}MiB` : limit
}
