import type { ComponentChildren } from 'preact'
import { api } from '../api.ts'
import { PlainTable } from '../ui/plain-table.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'

/** The most changes that are shown. */
const MOST = 50

type Row = Readonly<Record<string, unknown>>

interface Change {
  readonly version: string
  readonly what: 'inserted' | 'deleted' | 'changed'
  /** Before and after it; both are the same row unless it was changed. */
  readonly before: Row
  readonly after: Row
}

/** The rows that were inserted, deleted and, where there is a key, changed from one version to another. */
export function ChangedRows(props: { readonly id: number; readonly before: number; readonly after: number }) {
  const { id, before, after } = props
  const resource = useResource((signal) => changesOf(props, signal), [id, before, after])
  return (
    <Loaded of={resource} label="Comparing the rows">
      {({ names, changes }) => {
        const shown = changes.slice(0, MOST)
        if (shown.length === 0) return <p>The rows are the same.</p>
        return (
          <>
            {shown.length < changes.length && (
              <p>
                The first {MOST} changes; all of them are at{' '}
                <code>{`GET /datasets/${id}/changes?since=${before}&until=${after}`}</code>.
              </p>
            )}
            <PlainTable
              label="Changed rows"
              head={['Version', 'What', ...names]}
              rows={shown.map((change) => [
                change.version,
                change.what,
                ...names.map((name) => cell(shownValue(change.before[name]), shownValue(change.after[name]))),
              ])}
            />
          </>
        )
      }}
    </Loaded>
  )
}

function cell(before: string, after: string): ComponentChildren {
  if (before === after) return after
  return (
    <>
      <del>{before}</del> <ins>{after}</ins>
    </>
  )
}

function shownValue(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

async function changesOf(
  { id, before, after }: { readonly id: number; readonly before: number; readonly after: number },
  signal: AbortSignal,
) {
  const { datasets } = api()
  // A changed row comes as two, and one more tells whether these are all.
  const [columns, { rows }] = await Promise.all([
    datasets.columns(id, { version: after, signal }),
    datasets.changes(id, before, { until: after, top: 2 * MOST + 2, signal }),
  ])
  const names = columns.map(({ name }) => name)
  const [what, version] = ['_change', '_version'].map((name) => unusedName(name, names)) as [string, string]
  const changes: Change[] = []
  let old: Row | undefined
  for await (const row of rows) {
    if (row[what] === 'update_before') old = row
    else {
      const isNew = row[what] === 'insert'
      const kind = old ? 'changed' : isNew ? 'inserted' : 'deleted'
      changes.push({ version: String(row[version]), what: kind, before: old ?? row, after: row })
      old = undefined
    }
  }
  return { names, changes }
}

/** The name that the service gives a column beside those of the dataset. */
function unusedName(name: string, names: readonly string[]): string {
  return names.includes(name) ? unusedName(`_${name}`, names) : name
}
