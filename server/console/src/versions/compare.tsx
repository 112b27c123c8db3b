import type { Column } from '../../../client/index.ts'
import { api } from '../api.ts'
import { filterName } from '../filter/types.ts'
import { formatCount, plural } from '../format.ts'
import { methodsFor } from '../group/grouping.ts'
import { fetchRows } from '../rows.ts'
import { Dialog, openDialog } from '../ui/dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PlainTable } from '../ui/plain-table.tsx'
import { useResource } from '../use-resource.ts'

const FIGURES = [
  { method: 'countdistinct', label: 'different values' },
  { method: 'min', label: 'lowest' },
  { method: 'max', label: 'highest' },
] as const

/** A version in figures: for each column its type, and what was calculated of it. */
interface Figures {
  readonly rowCount: number
  readonly columns: ReadonlyMap<string, Readonly<Record<string, string>>>
}

/** Shows in a window what differs between two versions. */
export function compareVersions(id: number, before: number, after: number): void {
  openDialog((close) => <CompareDialog {...{ id, before, after }} onClose={close} />)
}

/** What differs between two versions: the number of rows, the columns, and figures of each column. */
function CompareDialog(props: {
  readonly id: number
  readonly before: number
  readonly after: number
  readonly onClose: () => void
}) {
  const { id, before, after } = props
  const resource = useResource(
    (signal) => Promise.all([figuresOf(id, before, signal), figuresOf(id, after, signal)]),
    [id, before, after],
  )
  return (
    <Dialog title={`Version ${before} and version ${after}`} wide onClose={props.onClose}>
      <div class="dialog-body">
        <Loaded of={resource} label="Comparing the versions">
          {([old, now]) => {
            const lines = differences(old, now)
            return (
              <>
                <p>
                  {plural(old.rowCount, 'row')} then, {formatCount(now.rowCount)} now.
                  {lines.length === 0 && ' The columns have the same types, extremes and numbers of values.'}
                </p>
                {lines.length > 0 && (
                  <PlainTable
                    label="Differences"
                    head={['Column', 'What', `Version ${before}`, `Version ${after}`]}
                    rows={lines}
                  />
                )}
              </>
            )
          }}
        </Loaded>
      </div>
    </Dialog>
  )
}

function differences(old: Figures, now: Figures): string[][] {
  const names = [...new Set([...old.columns.keys(), ...now.columns.keys()])]
  return names.flatMap((name) => {
    const [one, other] = [old.columns.get(name), now.columns.get(name)]
    if (!one || !other)
      return [[name, 'column', one ? 'is there' : 'is not there', other ? 'is there' : 'is not there']]
    return ['type', ...FIGURES.map(({ label }) => label)]
      .filter((label) => one[label] !== other[label])
      .map((label) => [name, label, one[label] ?? '', other[label] ?? ''])
  })
}

async function figuresOf(id: number, version: number, signal: AbortSignal): Promise<Figures> {
  const columns: readonly Column[] = await api().datasets.columns(id, { version, signal })
  const asked = columns.flatMap(({ name, type }) =>
    FIGURES.filter(({ method }) => methodsFor(type).includes(method)).map(({ method, label }) => ({
      name,
      label,
      method,
    })),
  )
  const items = asked.map(({ name, method }, at) => `${filterName(name)} with ${method} as compare__${at}`)
  const apply = `aggregate(${['$count as compare__rows', ...items].join(',')})`
  const [row = []] = (await fetchRows(id, { apply, version, top: 1, signal })).rows
  const figures = new Map<string, Record<string, string>>(columns.map(({ name, type }) => [name, { type }]))
  for (const [at, { name, label }] of asked.entries()) figures.get(name)![label] = row[at + 1] ?? 'null'
  return { rowCount: Number(row[0]), columns: figures }
}
