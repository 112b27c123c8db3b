import type { Duck } from '../../duckdb/duck.ts'
import type { ReadRequest } from '../request.ts'
import { outOfRange, tooFine } from '../text/value-errors.ts'
import type { LeafCondition } from './leaves.ts'
import { firstRowsAgainst, isScalar } from './looked-at.ts'
import type { Mark } from './marked-copy.ts'
import type { SchemaElement } from './schema.ts'

/**
 * Refuses times and moments that are finer than a microsecond where DuckDB silently cuts off their nanoseconds: times,
 * moments in UTC, and INT96. It keeps those of moments without a zone. So they are checked in a copy of the file whose
 * footer gives these columns other types. INT96 beyond the years of the calendar is refused as well, because DuckDB's own
 * moments overflow there.
 * @throws EngineError `invalid_upload`
 */
export async function refuseFinerMoments(
  duck: Duck,
  elements: ReadonlyMap<number, SchemaElement>,
  request: Pick<ReadRequest, 'file' | 'tempDirectory' | 'signal' | 'options'>,
): Promise<void> {
  const truncate = request.options?.nanoseconds === 'truncate'
  const marks = marksOf(elements)
  const looked = [...marks].filter(([, mark]) => mark === 'interval' || (mark === 'moment' && !truncate))
  const columns = new Set(looked.map(([position]) => elements.get(position)!.column))
  if (columns.size === 0) return
  const list = [...columns]
  const conditions = truncate ? [isInRange] : [isInRange, isWhole]
  const firsts = await firstRowsAgainst(duck, marks, list, conditions, request)
  const names = [...elements.values()].filter(({ isColumn }) => isColumn).map(({ name }) => name)
  for (const [at, [beyond, finer]] of firsts.entries()) {
    const name = names[list[at]!]!
    if (beyond !== undefined) throw outOfRange(beyond, name, 'timestamp')
    if (finer !== undefined) throw tooFine(finer, name)
  }
}

/** In the copy, no other elements than those to be looked at are moments in nanoseconds or intervals. */
function marksOf(elements: ReadonlyMap<number, SchemaElement>): Map<number, Mark> {
  const marks = new Map<number, Mark>()
  for (const [position, { physical, converted, logical }] of elements) {
    if (physical === 'INT96') marks.set(position, 'interval')
    else if (converted === 'INTERVAL') marks.set(position, 'plain')
    else if (/^TimestampType\(isAdjustedToUTC=1.*NANOS=Nano/.test(logical)) marks.set(position, 'moment')
    else if (/^TimestampType.*NANOS=Nano/.test(logical)) marks.set(position, 'plain')
    else if (/^TimeType.*NANOS=Nano/.test(logical)) marks.set(position, 'moment')
  }
  return marks
}

const isWhole: LeafCondition = (type, sql) => {
  if (isScalar(type, 'TIMESTAMP_NS')) {
    return `CASE WHEN isfinite(${sql}) THEN epoch_ns(${sql}) % 1000 = 0 ELSE ${sql} IS NULL END`
  }
  if (!isScalar(type, 'INTERVAL')) return undefined
  // The first eight bytes are the nanoseconds of the day; the interval has them as two numbers of 32 bits.
  const months = `CAST(datepart('year', ${sql}) * 12 + datepart('month', ${sql}) AS BIGINT)`
  const low = `(${months} + CASE WHEN ${months} < 0 THEN 4294967296 ELSE 0 END)`
  return `(CAST(datepart('day', ${sql}) AS BIGINT) * 4294967296 + ${low}) % 1000 = 0`
}

/** The Julian days of 0001-01-01 and 9999-12-31. */
const [FIRST_DAY, LAST_DAY] = [1_721_426, 5_373_484]

const isInRange: LeafCondition = (type, sql) => {
  if (!isScalar(type, 'INTERVAL')) return undefined
  // The last four bytes are the Julian day; the interval has them as milliseconds.
  const day = `(datepart('hour', ${sql}) * 3600000 + datepart('minute', ${sql}) * 60000 + datepart('milliseconds', ${sql}))`
  return `${day} BETWEEN ${FIRST_DAY} AND ${LAST_DAY}`
}
