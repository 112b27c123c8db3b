import type { Provider, Series } from '../../../client/index.ts'
import { api } from '../api.ts'
import { plural } from '../format.ts'
import { href, navigate } from '../router.ts'
import { ask } from '../ui/form.tsx'
import { announce } from '../ui/toast.tsx'

/** Asks where to save a series: as a new dataset, or after the rows of one. The server fetches the rows itself. */
export async function saveSeries(provider: Provider, series: Series): Promise<void> {
  const { repositories, datasets } = api()
  const [homes, tables] = await Promise.all([repositories.list(), datasets.list()])
  const writable = homes.filter(({ permission }) => permission === 'Write')
  if (writable.length === 0) {
    announce('You have no repository to write to. Create one first, on the page “Data”.')
    return
  }
  const fitting = tables.filter(
    ({ repositoryId, columns }) =>
      writable.some(({ id }) => id === repositoryId) &&
      ['series_id', 'date'].every((wanted) => columns?.some(({ name }) => name === wanted)),
  )
  const isNew = ({ target }: Readonly<Record<string, unknown>>) => target === ''
  ask({
    title: 'Save the series',
    text: `${plural(series.observations.length, 'row')} with its name, unit, frequency, date, period, value and status.`,
    action: 'Save',
    busyAction: 'Saving…',
    fields: {
      target: {
        label: 'Where to',
        value: '',
        options: [
          { value: '', label: 'a new dataset' },
          ...fitting.map(({ id, name }) => ({ value: String(id), label: `after the rows of ${name}` })),
        ],
        when: () => fitting.length > 0,
      },
      home: {
        label: 'Repository',
        value: String(writable[0]!.id),
        options: writable.map(({ id, name }) => ({ value: String(id), label: name })),
        when: isNew,
      },
      name: {
        label: 'Name of the dataset',
        value: series.name || series.series_id,
        required: true,
        maxLength: 255,
        when: isNew,
      },
    },
    async onSubmit({ target, home, name }) {
      const made =
        target === '' ? (await datasets.create({ name, repositoryId: Number(home) })).id : undefined
      try {
        const wanted = { provider: provider.slug, series: [series.series_id] }
        const stored = await datasets.append(made ?? Number(target), wanted)
        announce(`${stored.name} now has ${plural(stored.rowCount ?? 0, 'row')}.`)
        navigate(href(['datasets', stored.id]))
      } catch (failure) {
        // Remove the new dataset again if its rows could not be saved.
        if (made !== undefined) await datasets.delete(made).catch(() => undefined)
        throw failure
      }
    },
  })
}
