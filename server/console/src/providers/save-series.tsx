import { useState } from 'preact/hooks'
import type { Provider, Series } from '../../../client/index.ts'
import { api } from '../api.ts'
import { plural } from '../format.ts'
import { href, navigate } from '../router.ts'
import { useAttempt } from '../ui/attempt.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Failure, Loading } from '../ui/feedback.tsx'
import { Field, Select } from '../ui/field.tsx'
import { announce } from '../ui/toast.tsx'
import { latest, useResource } from '../use-resource.ts'

/** Saves a series as a new dataset, or appends it to a dataset of series. The server fetches the rows itself. */
export function SaveSeries(props: {
  readonly provider: Provider
  readonly series: Series
  readonly onClose: () => void
}) {
  const { provider, series } = props
  const [resource, again] = useResource(async (signal) => {
    const [homes, tables] = await Promise.all([
      api().repositories.list({ signal }),
      api().datasets.list({ signal }),
    ])
    const writable = homes.filter(({ permission }) => permission === 'Write')
    const fitting = tables.filter(
      (table) =>
        writable.some(({ id }) => id === table.repositoryId) &&
        table.columns?.some(({ name }) => name === 'series_id') &&
        table.columns?.some(({ name }) => name === 'date'),
    )
    return { writable, fitting }
  }, [])
  const [home, setHome] = useState('')
  const [target, setTarget] = useState('')
  const [name, setName] = useState(series.name || series.series_id)
  const loaded = latest(resource)
  const chosenHome = home || String(loaded?.writable[0]?.id ?? '')

  const { busy, error, attempt } = useAttempt(async () => {
    const { datasets } = api()
    const fields = { name: name.trim(), repositoryId: Number(chosenHome) }
    const created = target === '' ? (await datasets.create(fields)).id : undefined
    try {
      const wanted = { provider: provider.slug, series: [series.series_id] }
      const stored = await datasets.append(created ?? Number(target), wanted)
      announce(`${stored.name} now has ${plural(stored.rowCount, 'row')}.`)
      navigate(href(['datasets', stored.id]))
    } catch (failure) {
      // Remove the new dataset again if its rows could not be saved.
      if (created !== undefined) await datasets.delete(created).catch(() => undefined)
      throw failure
    }
  })

  return (
    <Dialog title="Save the series" onClose={props.onClose}>
      {!loaded && resource.state === 'failed' && <Failure error={resource.error} onRetry={again} />}
      {!loaded && resource.state === 'loading' && <Loading label="Loading your repositories" />}
      {loaded && loaded.writable.length === 0 && (
        <div class="dialog-body">
          <p>You have no repository to write to. Create one first; it only needs a name.</p>
          <p>
            <a href={href([])}>To your data</a>
          </p>
        </div>
      )}
      {loaded && loaded.writable.length > 0 && (
        <form onSubmit={attempt}>
          <div class="dialog-body">
            {loaded.fitting.length > 0 && (
              <Select
                label="Where to"
                value={target}
                options={[
                  { value: '', label: 'a new dataset' },
                  ...loaded.fitting.map((table) => ({
                    value: String(table.id),
                    label: `after the rows of ${table.name}`,
                  })),
                ]}
                onValue={setTarget}
              />
            )}
            {target === '' && (
              <>
                <Select
                  label="Repository"
                  value={chosenHome}
                  options={loaded.writable.map(({ id, name: label }) => ({ value: String(id), label }))}
                  onValue={setHome}
                />
                <Field label="Name of the dataset" value={name} onValue={setName} required maxLength={255} />
              </>
            )}
            {error && (
              <p class="field-error" role="alert">
                {error}
              </p>
            )}
            <p class="hint">
              {plural(series.observations.length, 'row')} with its name, unit, frequency, date, period, value
              and status.
            </p>
          </div>
          <footer class="dialog-foot">
            <button type="button" class="button" onClick={props.onClose}>
              Cancel
            </button>
            <button
              type="submit"
              class="button button-primary"
              disabled={busy || (target === '' && name.trim() === '')}
            >
              {busy ? 'Saving…' : 'Save'}
            </button>
          </footer>
        </form>
      )}
    </Dialog>
  )
}
