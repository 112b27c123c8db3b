import { useState } from 'preact/hooks'
import type { Dataset } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatAge, formatBytes, formatCount, formatDateTime } from '../format.ts'
import { href } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PlainTable } from '../ui/plain-table.tsx'
import { useResource } from '../use-resource.ts'
import { compareVersions } from './compare.tsx'
import { restore } from './past-version.tsx'

const PAGE = 100

/** The versions of a dataset: who changed it, when and how, and a way to look at each, compare and restore it. */
export function History({ dataset, canWrite }: { readonly dataset: Dataset; readonly canWrite: boolean }) {
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
          </p>
          <PlainTable
            label="Versions"
            head={['Version', 'When', 'Who', 'What', 'Rows', 'Added', 'Removed', 'Own bytes', 'Actions']}
            right={(at) => at >= 4 && at <= 7}
            rows={versions.map((version) => [
              version.number === current ? <strong>{version.number}, current</strong> : version.number,
              <time key="when" dateTime={version.createdAt} title={formatDateTime(version.createdAt)}>
                {formatAge(version.createdAt)}
              </time>,
              version.by ?? 'not known',
              [version.operation ?? 'not known', version.note].filter(Boolean).join(': '),
              formatCount(version.rowCount),
              signed('+', version.addedRows),
              signed('−', version.removedRows),
              formatBytes(version.ownBytes),
              <Actions key="actions" {...{ id, current, canWrite }} number={version.number} />,
            ])}
          />
          {versions.length === most && (
            <Button look="more" onClick={() => setMost(most + PAGE)}>
              Show more
            </Button>
          )}
        </>
      )}
    </Loaded>
  )
}

function Actions(props: {
  readonly id: number
  readonly number: number
  readonly current: number
  readonly canWrite: boolean
}) {
  const { id, number, current, canWrite } = props
  const isPast = number !== current
  return (
    <div class="actions">
      <Button look="small" href={href(['datasets', id], isPast ? { version: String(number) } : {})}>
        Look
      </Button>
      {isPast && (
        <Button look="small" onClick={() => compareVersions(id, number, current)}>
          Compare
        </Button>
      )}
      {canWrite && isPast && (
        <Button look="small" onClick={() => restore(id, number)}>
          Restore
        </Button>
      )}
    </div>
  )
}

function signed(sign: string, rows: number | null): string {
  return rows === null ? 'not known' : rows === 0 ? '0' : `${sign}${formatCount(rows)}`
}
