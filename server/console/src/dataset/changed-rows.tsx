import type { ComponentChildren } from 'preact'
import { api } from '../api.ts'
import { plural } from '../format.ts'
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

export interface Compared {
  readonly id: number
  readonly before: number
  readonly after: number
  /** Whether the dataset has a key. */
  readonly isKeyed: boolean
}

/** The rows that were inserted, deleted and changed from one version to another. */
export function ChangedRows(props: Compared) {
  const { id, before, after, isKeyed } = props
  const resource = useResource((signal) => changesOf(props, signal), [id, before, after])
  return (
    <Loaded of={resource} label="Comparing the rows">
      {({ names, changes }) => {
        const shown = changes.slice(0, MOST)
        if (shown.length === 0) return <p>No row has changed.</p>
        const inserted = inserts(shown)
        return (
          <>
            <p>
              {shown.length < changes.length ? (
                <>
                  The first {MOST} changes; all of them are at{' '}
                  <code>{`GET /datasets/${id}/changes?since=${before}&until=${after}`}</code>.
                </>
              ) : (
                `${sentence(shown)}.`
              )}
              {!isKeyed &&
                shown.some(({ what, version }) => what === 'deleted' && inserted.has(version)) &&
                ' Without a key, nothing says which deleted row became which inserted one.'}
            </p>
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

/** The versions that inserted rows. */
function inserts(changes: readonly Change[]): Set<string> {
  return new Set(changes.filter(({ what }) => what === 'inserted').map(({ version }) => version))
}

/** How many rows were changed, inserted and deleted. */
function sentence(changes: readonly Change[]): string {
  const counts = (['changed', 'inserted', 'deleted'] as const)
    .map((one) => [changes.filter(({ what }) => what === one).length, one] as const)
    .filter(([count]) => count > 0)
  return counts.map(([count, one]) => `${plural(count, 'row')} ${one}`).join(', ')
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

async function changesOf({ id, before, after }: Compared, signal: AbortSignal) {
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
