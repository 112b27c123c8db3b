import type { Provider } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatCount } from '../format.ts'
import { href, parseAddress, updateQuery } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/feedback.tsx'
import { useSearch } from '../ui/field.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import { failureOf } from './provider-failure.tsx'

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
