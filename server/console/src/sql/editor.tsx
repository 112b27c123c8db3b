import { useEffect } from 'preact/hooks'
import { ParquetryError } from '../../../client/index.ts'
import { messageOf, type Shelves } from '../api.ts'
import { Button } from '../ui/button.tsx'
import { BelowText, controlOf, useEditing } from '../ui/completing.tsx'
import { Select } from '../ui/field.tsx'
import { complete } from './complete.ts'

const SLOT = 'parquetry.statements'
const MOST_KEPT = 50

/** The statements that were run in this browser, newest first. */
function pastStatements(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(SLOT) ?? '[]')
    return Array.isArray(kept) ? kept.map(String) : []
  } catch {
    return []
  }
}

export function rememberStatement(sql: string): void {
  const others = pastStatements().filter((one) => one !== sql)
  localStorage.setItem(SLOT, JSON.stringify([sql, ...others].slice(0, MOST_KEPT)))
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
    const at = failed ? placeOf(error) : undefined
    if (at === undefined) return
    area.current?.focus()
    area.current?.setSelectionRange(at, at + (/^\w+|./.exec(sql.slice(at))?.[0].length ?? 0))
  }, [error])
  return (
    <div class={`sql-editor ${failed ? 'is-wrong' : ''}`}>
      <textarea
        {...controlOf(edit, failed)}
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
            label="Statements of before"
            value=""
            options={[
              ['', 'Statements of before'],
              ...past.map((one) => [one, one.replaceAll(/\s+/g, ' ').slice(0, 80)] as const),
            ]}
            onValue={(one) => one !== '' && onRun(one)}
          />
        )}
      </div>
    </div>
  )
}

/** The number of characters before what an error is about. */
function placeOf(error: unknown): number | undefined {
  if (!(error instanceof ParquetryError)) return undefined
  const given = /\(at character (\d+)\)/.exec(error.message)?.[1]
  return given === undefined ? undefined : Number(given) - 1
}
