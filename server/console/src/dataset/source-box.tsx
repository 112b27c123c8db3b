import { useState } from 'preact/hooks'
import type { Column, Dataset } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatAge, formatDateTime } from '../format.ts'
import { Confirm } from '../ui/confirm.tsx'
import { latest, useResource } from '../use-resource.ts'
import { SourceDialog } from './source-dialog.tsx'

const FOLLOWED = ['series_id', 'name', 'unit', 'frequency', 'period', 'value', 'status']

/** Whether a dataset has the columns of datasets that follow series. */
function isFollowing(columns: readonly Column[]): boolean {
  const names = new Set(columns.map(({ name }) => name))
  return !names.has('provider') && FOLLOWED.every((name) => names.has(name))
}

/**
 * The series that a dataset follows, and the state of its refreshes. Offers to follow series if the dataset is empty.
 */
export function SourceBox(props: {
  readonly dataset: Dataset
  readonly canWrite: boolean
  readonly onChanged: () => void
}) {
  const { dataset, canWrite } = props
  const asks = isFollowing(dataset.columns)
  const [resource, again] = useResource(
    async (signal) => (asks ? api().datasets.source(dataset.id, { signal }) : undefined),
    [dataset.id, dataset.version, asks],
  )
  const [open, setOpen] = useState<'change' | 'end'>()
  const source = latest(resource)
  const close = () => setOpen(undefined)
  const changed = () => {
    close()
    again()
    props.onChanged()
  }
  const isOffered = canWrite && (asks || dataset.columns.length === 0)
  if (!source && !isOffered) return null
  return (
    <section class="source" aria-label="Series that are followed">
      {source && (
        <p>
          Follows {source.series.join(', ')} every {source.every}
          {' · '}
          {source.lastRun === null ? 'not refreshed yet' : `refreshed ${formatAge(source.lastRun)}`}
          {' · '}
          next {formatDateTime(source.nextRun)}
        </p>
      )}
      {source?.lastError && (
        <p class="field-error" role="status">
          {source.lastError}
        </p>
      )}
      {canWrite && (
        <div class="source-actions">
          <button type="button" class="button button-quiet" onClick={() => setOpen('change')}>
            {source ? 'Change or refresh now' : 'Follow series of providers…'}
          </button>
          {source && (
            <button type="button" class="button button-quiet" onClick={() => setOpen('end')}>
              Stop following
            </button>
          )}
        </div>
      )}
      {open === 'change' && (
        <SourceDialog datasetId={dataset.id} source={source} onDone={changed} onClose={close} />
      )}
      {open === 'end' && (
        <Confirm
          title="Stop following?"
          text="The rows stay as they are, and are no longer brought up to date."
          action="Stop following"
          onConfirm={async () => {
            await api().datasets.unfollow(dataset.id)
            changed()
          }}
          onClose={close}
        />
      )}
    </section>
  )
}
