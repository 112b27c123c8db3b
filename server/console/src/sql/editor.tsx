import { useEffect } from 'preact/hooks'
import { ALLOWED_FUNCTIONS } from '../../../../engine/sql/nodes.ts'
import { quoteIdentifier } from '../../../../engine/types/index.ts'
import { type DatasetSummary, ParquetryError, type Repository } from '../../../client/index.ts'
import { messageOf, type Shelves } from '../api.ts'
import { Button } from '../ui/button.tsx'
import { BelowText, controlProps, useEditing } from '../ui/completing.tsx'
import { type Completion, suggestion } from '../ui/completion.ts'
import { Select } from '../ui/field.tsx'

const SLOT = 'parquetry.statements'
const MOST_KEPT = 50

/** The statements that were run in this browser, newest first. */
function pastStatements(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(SLOT) ?? '[]')
    return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : []
  } catch {
    // Storage is blocked, or holds something else.
    return []
  }
}

export function rememberStatement(sql: string): void {
  const others = pastStatements().filter((one) => one !== sql)
  try {
    localStorage.setItem(SLOT, JSON.stringify([sql, ...others].slice(0, MOST_KEPT)))
  } catch {
    // Storage is blocked or full: the statement is not remembered.
  }
}

interface EditorProps {
  readonly sql: string
  readonly names: Shelves
  /** What was wrong with the statement `sql`. */
  readonly error: unknown
  readonly running: boolean
  readonly onRun: (sql: string) => void
  readonly onStop: () => void
}

/** A statement to be edited and run. Names are completed, and what an error is about is selected. */
export function Editor({ sql, names, error, running, onRun, onStop }: EditorProps) {
  const edit = useEditing(sql, (text, caret) => complete(text, caret, names), onRun, true)
  const { text, area } = edit
  const past = pastStatements()
  const failed = error !== undefined && text.trim() === sql
  useEffect(() => {
    const at = failed && error instanceof ParquetryError ? error.details.position : undefined
    if (at === undefined) return
    area.current?.focus()
    area.current?.setSelectionRange(at, at + (/^\w+|./.exec(sql.slice(at))?.[0].length ?? 0))
  }, [error])
  return (
    <div class={`sql-editor ${failed ? 'is-wrong' : ''}`}>
      <textarea
        {...controlProps(edit, failed)}
        class="input"
        rows={6}
        aria-label="Statement"
        placeholder="SELECT …"
      />
      <BelowText edit={edit} problem={failed ? messageOf(error) : undefined} />
      <div class="actions">
        {running ? (
          <Button look="danger" to={onStop} says="Stop" />
        ) : (
          <Button look="primary" disabled={text.trim() === ''} to={() => edit.apply(text)} says="Run" />
        )}
        {past.length > 0 && (
          <Select
            label="Earlier statements"
            value=""
            options={[
              ['', 'Earlier statements'],
              ...past.map((one) => [one, one.replaceAll(/\s+/g, ' ').slice(0, 80)] as const),
            ]}
            onValue={(one) => one !== '' && onRun(one)}
          />
        )}
      </div>
    </div>
  )
}

const WORDS =
  'select from where group by having order by limit offset join left join inner join on using union all with as distinct case when then else end and or not in between like is null asc desc over partition by qualify'.split(
    ' ',
  )
const MOST = 40

/** A name in SQL, quoted if needed. */
export function sqlName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !WORDS.includes(name) ? name : quoteIdentifier(name)
}

/** Suggests columns of the tables that the statement names, tables, functions and words that begin like the text. */
function complete(text: string, caret: number, { tables, homes, account }: Shelves): Completion {
  const typed = /[\p{L}\p{N}_"]*$/u.exec(text.slice(0, caret))?.[0] ?? ''
  const prefix = typed.replace(/^"/, '').toLowerCase()
  const from = caret - typed.length
  const isInsideText = text.slice(0, from).split("'").length % 2 === 0
  if (prefix === '' || isInsideText) return { from, to: caret, suggestions: [] }
  const named = tables.filter(({ name }) => text.toLowerCase().includes(name.toLowerCase()))
  const homeOf = ({ repositoryId }: DatasetSummary) => homes.find(({ id }) => id === repositoryId)
  const all = [
    ...named.flatMap(({ name: table, columns = [] }) =>
      columns.map(({ name, type }) => suggestion('column', name, `${type}, ${table}`, sqlName(name))),
    ),
    ...tables.flatMap((table) => {
      const home = homeOf(table)
      if (!home) return []
      return [suggestion('value', table.name, `table in ${home.name}`, tableName(home, table.name, account))]
    }),
    ...WORDS.map((word) => suggestion('operator', word.toUpperCase(), '', `${word.toUpperCase()} `)),
    ...[...ALLOWED_FUNCTIONS]
      .filter((name) => /^[a-z]/.test(name))
      .map((name) => suggestion('function', `${name}()`, 'function', `${name}(`, ')')),
  ]
  const fitting = all.filter(
    ({ label, insert }) => label.toLowerCase().startsWith(prefix) && insert.trim() !== typed,
  )
  const suggestions = [...new Map(fitting.map((one) => [one.kind + one.insert, one])).values()]
  return { from, to: caret, suggestions: suggestions.slice(0, MOST) }
}

/** A table as SQL names it, with the owner if that is another than the account. */
export function tableName(
  { name: repository, owner }: Pick<Repository, 'name' | 'owner'>,
  name: string,
  account: string,
): string {
  const names = owner === account ? [repository, name] : [owner, repository, name]
  return names.map(sqlName).join('.')
}
