import { useState } from 'preact/hooks'
import type { Dataset } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatAge, formatDateTime } from '../format.ts'
import { Confirm } from '../ui/confirm.tsx'
import { SourceDialog } from './source-dialog.tsx'
import { mayFollow, type SourceState } from './use-source.ts'

/**
 * The series that a dataset follows, and the state of its refreshes. Offers to follow series if the dataset is empty.
 */
export function SourceBox(props: {
  readonly dataset: Dataset
  readonly state: SourceState
  readonly canWrite: boolean
  readonly onChanged: () => void
}) {
  const { dataset, canWrite } = props
  const { source, again } = props.state
  const [open, setOpen] = useState<'change' | 'end'>()
  const close = () => setOpen(undefined)
  const changed = () => {
    close()
    again()
    props.onChanged()
  }
  const isOffered = canWrite && (mayFollow(dataset.columns) || dataset.columns.length === 0)
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
