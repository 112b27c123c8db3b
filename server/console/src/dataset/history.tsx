import { useState } from 'preact/hooks'
import type { Column, Dataset, Version } from '../../../client/index.ts'
import { api, fetchRows } from '../api.ts'
import { filterName } from '../filter/syntax.ts'
import { formatAge, formatBytes, formatCount, formatDateTime, plural } from '../format.ts'
import { METHODS, methodsFor } from '../group/grouping.ts'
import { href } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { openDialog } from '../ui/dialog.tsx'
import { PlainTable } from '../ui/plain-table.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import { complain } from '../ui/toast.tsx'
import { ChangedRows, type Compared } from './changed-rows.tsx'
import type { Exploration } from './exploration.ts'
import { restore, undoVersion } from './going-back.ts'
import { Revisions } from './revisions.tsx'

const PAGE = 100

/** The versions of a dataset: who changed it, when and how, and a way to look at each, compare and restore it. */
export function History({ dataset, canWrite }: Exploration) {
  const { id } = dataset
  const [most, setMost] = useState(PAGE)
  const resource = useResource(
    async (signal) => {
      const [versions, current] = await Promise.all([
        api().datasets.versions(id, { limit: most, signal }),
        api().datasets.get(id, { signal }),
      ])
      return { versions, current: current.version }
    },
    [id, dataset.updatedAt, most],
  )
  return (
    <Loaded of={resource} label="Loading the versions">
      {({ versions, current }) => (
        <>
          <p class="hint">
            Each change of the rows makes a version. Older ones are kept for some time, and restoring one
            copies no rows: it becomes a new version.
            {canWrite &&
              !dataset.key?.length &&
              ' The newest change can be undone alone; those before it in tables with a key, by which their rows are found.'}
          </p>
          <Revisions dataset={dataset} />
          <PlainTable
            label="Versions"
            hasCards
            head={['Version', 'When', 'Who', 'What', 'Rows', 'Added', 'Removed', 'Own bytes', 'Actions']}
            right={(at) => at >= 4 && at <= 7}
            rows={versions.map((version) => [
              version.number === current ? <strong>{version.number}, current</strong> : version.number,
              <time key="when" dateTime={version.createdAt} title={formatDateTime(version.createdAt)}>
                {formatAge(version.createdAt)}
              </time>,
              version.by ?? 'not known',
              <span key="what" class="wraps">
                {[version.operation ?? 'not known', version.note].filter(Boolean).join(': ')}
              </span>,
              formatCount(version.rowCount),
              signed('+', version.addedRows),
              signed('−', version.removedRows),
              formatBytes(version.ownBytes),
              actionsOf(dataset, version, current, canWrite),
            ])}
          />
          {versions.length === most && (
            <Button look="more" to={() => setMost(most + PAGE)} says="Show more" />
          )}
        </>
      )}
    </Loaded>
  )
}

function actionsOf({ id, key = [] }: Dataset, version: Version, current: number, canWrite: boolean) {
  const { number, addedRows, removedRows } = version
  const isPast = number !== current
  const hasChanged = number > 0 && (addedRows !== 0 || removedRows !== 0)
  // Without a key, only the rows of the newest change are sure to be as it left them.
  const undo =
    key.length > 0
      ? () => undoVersion(id, number)
      : isPast
        ? undefined
        : () => restore(id, number - 1).catch(complain)
  const compare = () =>
    openDialog({
      title: `Version ${number} and version ${current}`,
      wide: true,
      content: () => <Comparison id={id} before={number} after={current} isKeyed={key.length > 0} />,
    })
  return (
    <div key="actions" class="actions">
      <Button
        look="small"
        to={href(['datasets', id], isPast ? { version: String(number) } : {})}
        says="Look"
      />
      {isPast && <Button look="small" to={compare} says="Compare" />}
      {canWrite && isPast && (
        <Button look="small" to={() => restore(id, number).catch(complain)} says="Restore" />
      )}
      {canWrite && hasChanged && undo && <Button look="small" to={undo} says="Undo this change" />}
    </div>
  )
}

function signed(sign: string, rows: number | null): string {
  return rows === null ? 'not known' : rows === 0 ? '0' : `${sign}${formatCount(rows)}`
}

const FIGURES = ['countdistinct', 'min', 'max'] as const

/** What differs between two versions: the number of rows, the rows, the columns and figures of each. */
function Comparison(props: Compared) {
  const { id, before, after } = props
  const resource = useResource(
    (signal) => Promise.all([figuresOf(id, before, signal), figuresOf(id, after, signal)]),
    [id, before, after],
  )
  return (
    <div class="dialog-body">
      <ChangedRows {...props} />
      <Loaded of={resource} label="Comparing the versions">
        {([old, now]) => {
          const lines = differences(old, now)
          return (
            <>
              <p class="hint">
                {plural(old.rowCount, 'row')} then, {formatCount(now.rowCount)} now.
              </p>
              {lines.length > 0 && (
                <PlainTable
                  label="Differences of the columns"
                  head={['Column', 'What', `Version ${before}`, `Version ${after}`]}
                  rows={lines}
                />
              )}
            </>
          )
        }}
      </Loaded>
    </div>
  )
}

function differences(old: Figures, now: Figures): string[][] {
  const names = [...new Set([...old.columns.keys(), ...now.columns.keys()])]
  return names.flatMap((name) => {
    const [one, other] = [old.columns.get(name), now.columns.get(name)]
    if (!one || !other)
      return [[name, 'column', one ? 'is there' : 'is not there', other ? 'is there' : 'is not there']]
    return ['type', ...FIGURES.map((method) => METHODS[method])]
      .filter((label) => one[label] !== other[label])
      .map((label) => [name, label, one[label] ?? '', other[label] ?? ''])
  })
}

type Figures = Awaited<ReturnType<typeof figuresOf>>

/** A version in figures: for each column its type, and what was calculated of it. */
async function figuresOf(id: number, version: number, signal: AbortSignal) {
  const columns: readonly Column[] = await api().datasets.columns(id, { version, signal })
  const figured = columns.flatMap(({ name, type }) =>
    FIGURES.filter((method) => methodsFor(type).includes(method)).map((method) => ({ name, method })),
  )
  const items = figured.map(({ name, method }, at) => `${filterName(name)} with ${method} as compare__${at}`)
  const apply = `aggregate(${['$count as compare__rows', ...items].join(',')})`
  const [row = []] = (await fetchRows(id, { apply, version, top: 1, signal })).rows
  const figures = new Map<string, Record<string, string>>(columns.map(({ name, type }) => [name, { type }]))
  for (const [at, { name, method }] of figured.entries())
    figures.get(name)![METHODS[method]] = row[at + 1] ?? 'null'
  return { rowCount: Number(row[0]), columns: figures }
}
