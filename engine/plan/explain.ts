import type { Statement } from '../types/index.ts'
import type { Plan } from './plan.ts'

/** How many parts are read; those by ranges are named by addresses. */
export function partsRead({ scan }: Plan): string {
  if (scan.kind !== 'slices') return ''
  const ranged = scan.slices.filter(({ file }) => file.startsWith('http:')).length
  return `Parts read: ${scan.slices.length} of ${scan.of}${ranged > 0 ? `, ${ranged} by ranges` : ''}\n`
}

/** The statement that gives DuckDB's plan of a statement, as keys and texts. */
export function explanation(statement: Statement): Statement {
  return {
    ...statement,
    sql: `EXPLAIN ${statement.sql}`,
    columns: [
      { name: 'key', type: 'string' },
      { name: 'value', type: 'string' },
    ],
  }
}
