import { useEffect, useState } from 'preact/hooks'
import { api } from '../api.ts'
import { formatCount } from '../format.ts'
import { href, parseAddress, updateQuery } from '../router.ts'
import { Empty, Loading } from '../ui/feedback.tsx'
import { SearchBox } from '../ui/field.tsx'
import { latest, useResource } from '../use-resource.ts'
import { ProviderFailure } from './provider-failure.tsx'

const PAGE = 100

/** The series of a category, a page at a time. */
export function SeriesList(props: {
  readonly slug: string
  readonly name: string
  readonly path: string
  readonly offset: number
  readonly onAsked: () => void
  readonly onKey: () => void
}) {
  const { slug, path, offset } = props
  const [search, setSearch] = useState('')
  const [resource, again] = useResource(
    (signal) => api().providers.seriesPage(slug, path, { limit: PAGE, offset, signal }),
    [slug, path, offset],
  )
  useEffect(() => {
    if (resource.state === 'ready') props.onAsked()
  }, [resource.state])
  const page = latest(resource)
  if (resource.state === 'failed') {
    return <ProviderFailure name={props.name} error={resource.error} onRetry={again} onKey={props.onKey} />
  }
  if (!page || resource.state === 'loading') return <Loading label="Loading the series" lines={8} />
  if (page.series.length === 0) {
    return (
      <Empty icon="plot" title="No series here">
        Go further down in the tree, or choose another category.
      </Empty>
    )
  }
  const wanted = search.trim().toLowerCase()
  const shown = page.series.filter(({ name, series_id }) =>
    `${name} ${series_id}`.toLowerCase().includes(wanted),
  )
  return (
    <div class="series-pane">
      <div class="section-head">
        <h2>Series</h2>
        <SearchBox label="Find among these" value={search} onValue={setSearch} />
      </div>
      {shown.length === 0 && <p class="hint">None of these matches “{search}”.</p>}
      <ul class="series-list">
        {shown.map((series) => (
          <li key={series.series_id}>
            <a class="series-item" href={seriesAddress(series.series_id)}>
              <span class="series-name">{series.name}</span>
              <span class="series-note">
                <code>{series.series_id}</code>
                {[series.frequency, series.unit, range(series.start, series.end)].filter(Boolean).join(' · ')}
              </span>
            </a>
          </li>
        ))}
      </ul>
      <Pager offset={offset} count={page.series.length} total={page.total} />
    </div>
  )
}

function Pager(props: { readonly offset: number; readonly count: number; readonly total: number | null }) {
  const { offset, count, total } = props
  const hasMore = total === null ? count === PAGE : offset + count < total
  if (offset === 0 && !hasMore) return null
  return (
    <nav class="pager" aria-label="Pages">
      <button
        type="button"
        class="button button-small"
        disabled={offset === 0}
        onClick={() => updateQuery({ offset: String(Math.max(0, offset - PAGE) || '') }, true)}
      >
        Before
      </button>
      <span class="figures">
        {formatCount(offset + 1)} to {formatCount(offset + count)}
        {total === null ? '' : ` of ${formatCount(total)}`}
      </span>
      <button
        type="button"
        class="button button-small"
        disabled={!hasMore}
        onClick={() => updateQuery({ offset: String(offset + PAGE) }, true)}
      >
        After
      </button>
    </nav>
  )
}

function seriesAddress(id: string): string {
  const { path, query } = parseAddress(location.hash)
  return href(path, { ...query, series: id })
}

function range(start: string | null, end: string | null): string {
  return start || end ? `${start ?? '…'} to ${end ?? '…'}` : ''
}
