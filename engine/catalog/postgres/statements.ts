import type { ClientBase } from 'pg'
import type { SqlValue } from '../database.ts'

/** One of our statements in the form that PostgreSQL accepts. */
interface Prepared {
  /** Each connection parses a statement of the same name only once. */
  readonly name: string
  readonly text: string
}

const prepared = new Map<string, Prepared>()

/** Replaces `?` by `$1`, `$2` …; our statements use question marks for nothing else. */
function prepare(sql: string): Prepared {
  let known = prepared.get(sql)
  if (!known) {
    let count = 0
    known = { name: `s${prepared.size}`, text: sql.replaceAll('?', () => `$${++count}`) }
    prepared.set(sql, known)
  }
  return known
}

/**
 * @param patience after how many milliseconds without an answer the connection is taken for lost; by default as it was
 * opened with
 * @throws PostgreSQL's own errors
 */
export async function query<Row>(
  on: Pick<ClientBase, 'query'>,
  sql: string,
  values: readonly SqlValue[],
  patience?: number,
): Promise<{ readonly rows: Row[]; readonly count: number }> {
  const statement = { ...prepare(sql), values: [...values], ...(patience && { query_timeout: patience }) }
  const { rows, rowCount } = await on.query(statement)
  return { rows: rows as Row[], count: rowCount ?? 0 }
}
