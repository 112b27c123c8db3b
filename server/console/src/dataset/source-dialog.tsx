import { useState } from 'preact/hooks'
import type { Interval, Source } from '../../../client/index.ts'
import { api } from '../api.ts'
import { useAttempt } from '../ui/attempt.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Field, Select } from '../ui/field.tsx'

const INTERVALS: readonly { readonly value: Interval; readonly label: string }[] = [
  { value: 'hour', label: 'every hour' },
  { value: 'day', label: 'every day' },
  { value: 'week', label: 'every week' },
  { value: 'month', label: 'every month' },
]

/** Edits the series that a dataset follows. Ids are separated by spaces, because some contain commas. */
export function SourceDialog(props: {
  readonly datasetId: number
  readonly source: Source | undefined
  readonly onDone: () => void
  readonly onClose: () => void
}) {
  const { source } = props
  const [ids, setIds] = useState(source?.series.join(' ') ?? '')
  const [start, setStart] = useState(source?.start ?? '')
  const [every, setEvery] = useState<Interval>(source?.every ?? 'day')
  const series = ids.split(/\s+/).filter((id) => id !== '')
  const { busy, error, attempt } = useAttempt(async () => {
    await api().datasets.follow(props.datasetId, { series, start: start.trim() || null, every })
    props.onDone()
  })
  return (
    <Dialog title="Follow series" onClose={props.onClose}>
      <form onSubmit={attempt}>
        <div class="dialog-body">
          <Field
            label="Series"
            value={ids}
            onValue={setIds}
            required
            spellcheck={false}
            hint="Ids with their provider, as fred/GDP, separated by blanks."
            error={error}
          />
          <Select label="How often" value={every} options={INTERVALS} onValue={setEvery} />
          <Field label="First date" value={start} onValue={setStart} hint="As 2000-01-31; empty for all." />
        </div>
        <footer class="dialog-foot">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="button button-primary" disabled={busy || series.length === 0}>
            {busy ? 'Fetching…' : 'Follow'}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
