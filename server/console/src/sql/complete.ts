import { ALLOWED_FUNCTIONS } from '../../../../engine/sql/nodes.ts'
import { quoteIdentifier } from '../../../../engine/types/index.ts'
import type { DatasetSummary } from '../../../client/index.ts'
import type { Shelves } from '../api.ts'
import { type Completion, suggestion } from '../ui/completion.ts'

const WORDS =
  'select from where group by having order by limit offset join left join inner join on using union all with as distinct case when then else end and or not in between like is null asc desc over partition by qualify'.split(
    ' ',
  )
const MOST = 40

/** A name in SQL, quoted if needed. */
function sqlName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !WORDS.includes(name) ? name : quoteIdentifier(name)
}

/** Suggests columns of the tables that the statement names, tables, functions and words that begin like the text. */
export function complete(text: string, caret: number, { tables, homes }: Shelves): Completion {
  const typed = /[\p{L}\p{N}_"]*$/u.exec(text.slice(0, caret))?.[0] ?? ''
  const wanted = typed.replace(/^"/, '').toLowerCase()
  const from = caret - typed.length
  const nothing = { from, to: caret, suggestions: [] }
  const isInsideText = text.slice(0, from).split("'").length % 2 === 0
  if (wanted === '' || isInsideText) return nothing
  const named = tables.filter(({ name }) => text.toLowerCase().includes(name.toLowerCase()))
  const homeOf = ({ repositoryId }: DatasetSummary) => homes.find(({ id }) => id === repositoryId)?.name ?? ''
  const all = [
    ...named.flatMap(({ name: table, columns = [] }) =>
      columns.map(({ name, type }) => suggestion('column', name, `${type}, ${table}`, sqlName(name))),
    ),
    ...tables.map((table) =>
      suggestion('value', table.name, `table in ${homeOf(table)}`, tableName(homeOf(table), table.name)),
    ),
    ...WORDS.map((word) => suggestion('operator', word.toUpperCase(), '', `${word.toUpperCase()} `)),
    ...[...ALLOWED_FUNCTIONS]
      .filter((name) => /^[a-z]/.test(name))
      .map((name) => suggestion('function', `${name}()`, 'function', `${name}(`, ')')),
  ]
  const seen = new Set<string>()
  const suggestions = all.filter(({ kind, label, insert }) => {
    const fits = label.toLowerCase().startsWith(wanted) && !seen.has(kind + insert)
    seen.add(kind + insert)
    return fits && insert.trim() !== typed
  })
  return { from, to: caret, suggestions: suggestions.slice(0, MOST) }
}

export function tableName(repository: string, name: string): string {
  return `${sqlName(repository)}.${sqlName(name)}`
}
