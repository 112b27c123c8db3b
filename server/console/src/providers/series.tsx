import { useMemo, useState } from 'preact/hooks'
import { ParquetryError, type Provider, type Series } from '../../../client/index.ts'
import { askForKey } from '../account/account-pages.tsx'
import { api, messageOf, shelves } from '../api.ts'
import { chosenRepository, newDatasetFields, store } from '../dataset/storing.ts'
import { formatCount, formatNumber, plural } from '../format.ts'
import { Chart } from '../plot/chart.tsx'
import { drawSeries, textOfX } from '../plot/draw.ts'
import { href, navigate, parseAddress, updateQuery } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Empty, Failure } from '../ui/feedback.tsx'
import { useSearch } from '../ui/field.tsx'
import { ask } from '../ui/form.tsx'
import { PlainTable } from '../ui/plain-table.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import { announce, complain } from '../ui/toast.tsx'

const PAGE = 100

/** The series of a category, a page at a time. */
export function SeriesList(props: {
  readonly provider: Provider
  readonly path: string
  readonly offset: number
}) {
  const { provider, path, offset } = props
  const resource = useResource(
    (signal) => api().providers.seriesPage(provider.slug, path, { limit: PAGE, offset, signal }),
    [provider.slug, path, offset],
  )
  const address = parseAddress(location.hash)
  const all = resource.value?.series ?? []
  const { box, search, found } = useSearch(
    'Find among these',
    all,
    ({ name, series_id }) => `${name} ${series_id}`,
  )
  return (
    <Loaded of={resource} label="Loading the series" lines={8} failed={failureOf(provider)}>
      {({ total }) =>
        all.length === 0 ? (
          <Empty icon="plot" title="No series here">
            Go further down in the tree, or choose another category.
          </Empty>
        ) : (
          <div class="series-pane">
            <div class="section-head">
              <h2>Series</h2>
              {box}
            </div>
            {found.length === 0 && <p class="hint">None of these matches “{search}”.</p>}
            <ul class="series-list">
              {found.map(({ series_id: id, name, frequency, unit, start, end }) => (
                <li key={id}>
                  <a class="series-item" href={href(address.path, { ...address.query, series: id })}>
                    <span class="series-name">{name}</span>
                    <span class="series-note">
                      <code>{id}</code>
                      {[frequency, unit, (start || end) && `${start ?? '…'} to ${end ?? '…'}`]
                        .filter(Boolean)
                        .join(' · ')}
                    </span>
                  </a>
                </li>
              ))}
            </ul>
            <Pager offset={offset} count={all.length} total={total} />
          </div>
        )
      }
    </Loaded>
  )
}

function Pager(props: { readonly offset: number; readonly count: number; readonly total: number | null }) {
  const { offset, count, total } = props
  const hasMore = total === null ? count === PAGE : offset + count < total
  if (offset === 0 && !hasMore) return null
  return (
    <nav class="pager" aria-label="Pages">
      <Button
        look="small"
        disabled={offset === 0}
        to={() => updateQuery({ offset: String(Math.max(0, offset - PAGE) || '') }, true)}
        says="Before"
      />
      <span class="figures">
        {formatCount(offset + 1)} to {formatCount(offset + count)}
        {total === null ? '' : ` of ${formatCount(total)}`}
      </span>
      <Button
        look="small"
        disabled={!hasMore}
        to={() => updateQuery({ offset: String(offset + PAGE) }, true)}
        says="After"
      />
    </nav>
  )
}

const SHOWN_VALUES = 12

/** One series: its plot, its latest values, and the form that saves it in a dataset. */
export function SeriesView({ provider, id }: { readonly provider: Provider; readonly id: string }) {
  const resource = useResource(
    (signal) => api().providers.series(provider.slug, id, { signal }),
    [provider.slug, id],
  )
  return (
    <Loaded of={resource} label="Loading the series" lines={8} failed={failureOf(provider)}>
      {(series) => <Shown {...{ series, provider }} />}
    </Loaded>
  )
}

function Shown({ series, provider }: { readonly series: Series; readonly provider: Provider }) {
  const { drawing, xType } = useMemo(() => drawSeries(series), [series])
  const count = plural(series.observations.length, 'observation')
  const name = series.name || series.series_id
  const newest = series.observations.slice(-SHOWN_VALUES).reverse()
  return (
    <>
      <div class="section-head">
        <div>
          <h2>{name}</h2>
          <p class="hint">
            <code>{series.series_id}</code>{' '}
            {[series.frequency, series.unit, count].filter(Boolean).join(' · ')}
          </p>
        </div>
        <Button
          icon="table"
          look="primary"
          to={() => saveSeries(provider, series).catch(complain)}
          says="Save as dataset"
        />
      </div>
      {series.notes && <Notes text={series.notes} />}
      {drawing.xs.length === 0 ? (
        <Empty icon="plot" title="No observations">
          The provider has this series, but no values for it.
        </Empty>
      ) : (
        <>
          <Chart
            title={name}
            drawing={drawing}
            xType={xType}
            xText={textOfX(xType)}
            xLabel={xType === 'date' ? 'date' : 'time'}
            yLabel={series.unit ?? 'value'}
            kind="line"
          />
          <h3>Latest values</h3>
          <PlainTable
            label="Latest values"
            head={['Period', 'Value']}
            right={(at) => at === 1}
            rows={newest.map(({ period, date, value }) => [
              period ?? date,
              value === null ? (
                <span class="null">missing</span>
              ) : typeof value === 'number' ? (
                formatNumber(value)
              ) : (
                value
              ),
            ])}
          />
        </>
      )}
    </>
  )
}

/** The most characters of notes that are shown at first. What has been frozen or moved is at their beginning. */
const SHOWN_NOTES = 400

function Notes({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(text.length <= SHOWN_NOTES)
  return (
    <p class="series-notes">
      {isWhole ? text : `${text.slice(0, SHOWN_NOTES)}… `}
      {!isWhole && <Button look="small" to={() => setWhole(true)} says="All of the notes" />}
    </p>
  )
}

/** Asks where to save a series: as a new dataset, or after the rows of one. The server fetches the rows itself. */
async function saveSeries(provider: Provider, series: Series): Promise<void> {
  const names = await shelves()
  const { homes, tables } = names
  const writable = homes.filter(({ permission }) => permission === 'Write')
  const fitting = tables.filter(
    ({ repositoryId, columns }) =>
      writable.some(({ id }) => id === repositoryId) &&
      ['series_id', 'date'].every((required) => columns?.some(({ name }) => name === required)),
  )
  const { name, home } = newDatasetFields(series.name || series.series_id, names)
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
          ['', 'a new dataset'],
          ...fitting.map(({ id, name }) => [String(id), `after the rows of ${name}`] as const),
        ],
        when: () => fitting.length > 0,
      },
      home: { ...home, when: isNew },
      name: { ...name, when: isNew },
    },
    async onSubmit({ target, home, name }) {
      const required = { provider: provider.slug, series: [series.series_id] }
      const stored = await store(
        target === '' ? { name, repositoryId: await chosenRepository(home) } : Number(target),
        (id) => api().datasets.append(id, required),
      )
      announce(`${stored.name} now has ${plural(stored.rowCount ?? 0, 'row')}.`)
      navigate(href(['datasets', stored.id]))
    },
  })
}

/** Shows an error of a provider, and asks for an API key where that would help. */
export function failureOf(provider: Provider) {
  return (error: unknown, again: () => void) => {
    const code = error instanceof ParquetryError ? error.code : ''
    if (code !== 'key_required' && code !== 'key_rejected') return <Failure error={error} onRetry={again} />
    const { name } = provider
    return (
      <Empty
        icon="key"
        title={code === 'key_required' ? `${name} needs a key` : `${name} does not accept the key`}
        action={{ says: 'Use your own key', to: () => askForKey([provider]) }}
      >
        {code === 'key_required'
          ? 'The provider issues keys, usually free of charge. A key that you save here is used only for you.'
          : messageOf(error)}
      </Empty>
    )
  }
}
