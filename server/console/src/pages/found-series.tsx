import { useEffect, useState } from 'preact/hooks'
import { api } from '../api.ts'
import { plural } from '../format.ts'
import { href } from '../router.ts'
import { Failure, Loading } from '../ui/feedback.tsx'
import { latest, useResource } from '../use-resource.ts'

/** The search begins when the user hasn't typed for this long. */
const REST_MS = 300
const MOST = 50

/** Series and categories that match the search, of all providers, as far as the server knows them. */
export function FoundSeries(props: { readonly search: string }) {
  const wanted = props.search.trim()
  const [words, setWords] = useState(wanted)
  useEffect(() => {
    const timer = setTimeout(() => setWords(wanted), REST_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  const [resource, again] = useResource((signal) => api().search(words, { limit: MOST, signal }), [words])
  const found = latest(resource)
  return (
    <section class="card found-series" aria-labelledby="found-series">
      <h2 id="found-series">Series of providers</h2>
      {resource.state === 'failed' && <Failure error={resource.error} onRetry={again} />}
      {!found && resource.state === 'loading' && <Loading label="Looking for series" lines={3} />}
      {found && (
        <>
          <p class="hint" role="status">
            {plural(found.total ?? found.series.length, 'series', 'series')} and{' '}
            {plural(found.categories.length, 'category', 'categories')} in what was browsed or indexed here.
          </p>
          <ul class="key-list">
            {found.categories.map(({ provider, path, name }) => (
              <li key={`${provider} ${path}`} class="key-item">
                <a href={href(['providers', provider], { path })}>{name}</a>
                <span class="hint">{provider}, category</span>
              </li>
            ))}
            {found.series.map(({ provider, series_id: id, name, frequency, unit }) => (
              <li key={`${provider} ${id}`} class="key-item">
                <a href={href(['providers', provider], { series: id })}>{name || id}</a>
                <span class="hint">{[provider, id, frequency, unit].filter(Boolean).join(', ')}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}
