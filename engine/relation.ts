import { createHash } from 'node:crypto'
import { physicalColumns } from './plan/plan.ts'
import type { QueryContext } from './query.ts'
import type { Column } from './types/index.ts'

/** A value of a row in memory. Dates and times as ISO text, exact numbers beyond 2^53 as text. */
export type Cell = string | number | boolean | null

/** Rows in memory as the context of a query. NaN and infinities are written as the texts that DuckDB reads. */
export function inlineContext(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): Pick<QueryContext, 'source' | 'identity'> {
  const json = JSON.stringify(rows, (_, value) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
  )
  return {
    // With other column types, the same texts are other values.
    identity: createHash('sha256').update(JSON.stringify(columns)).update(json).digest('base64url'),
    source: {
      columns: physicalColumns(columns),
      rows: rows.length,
      rowBytes: rows.length === 0 ? 0 : Math.ceil(json.length / rows.length),
      scan: (from, to) => {
        const whole = from === 0 && to >= rows.length
        return { kind: 'inline', json: whole ? json : JSON.stringify(rows.slice(from, to)) }
      },
    },
  }
}
