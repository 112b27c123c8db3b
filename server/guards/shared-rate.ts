import { type RateLimiterMemory, RateLimiterPostgres } from 'rate-limiter-flexible'
import type { Database, SqlValue } from '../../engine/index.ts'

/** A statement as rate-limiter-flexible gives it to a client of PostgreSQL. */
interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/**
 * Counts in the database for all nodes together what `own` counts for this one. Once a name has reached the limit, it is
 * refused without asking again. If the database does not answer, `own` counts in its place.
 */
export function sharedRate(database: Database, own: RateLimiterMemory): RateLimiterPostgres {
  return new RateLimiterPostgres({
    storeClient: {
      query: async ({ text, values }: Statement) => {
        const given: SqlValue[] = []
        const sql = text.replace(/\$(\d+)/g, (_, number) => {
          given.push(values[Number(number) - 1]!)
          return '?'
        })
        const rows = await database.transient((t) => t.all(sql, ...given))
        return { rows, rowCount: rows.length }
      },
    },
    storeType: 'client',
    tableName: 'request_rates',
    tableCreated: true,
    points: own.points,
    duration: own.duration,
    inMemoryBlockOnConsumed: own.points,
    insuranceLimiter: own,
  })
}
