import type { Provider } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatCount } from '../format.ts'
import { href } from '../router.ts'
import { useSearch } from '../ui/field.tsx'
import { Page } from '../ui/page.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'

/** All providers, with a search over their names, slugs and descriptions. */
export function ProvidersPage() {
  const resource = useResource((signal) => api().providers.list({ signal }), [])
  const { box, search, found } = useSearch(
    'Find a provider',
    resource.value ?? [],
    ({ name, slug, description }) => `${name} ${slug} ${description}`,
  )
  return (
    <Page
      title="Providers"
      intro={
        <>
          <p class="lede">Economic series of central banks and statistical offices, all read the same way.</p>
          {box}
        </>
      }
    >
      <Loaded of={resource} label="Loading the providers">
        {() =>
          found.length === 0 ? (
            <p class="hint">No provider matches “{search}”. Try the name of a country or an office.</p>
          ) : (
            <ul class="cards">
              {found.map((provider) => (
                <li key={provider.slug}>
                  <a class="card card-link" href={href(['providers', provider.slug])}>
                    <div class="card-title">
                      <h2>{provider.name}</h2>
                      {provider.tier === 'paid' && <span class="badge">paid plan</span>}
                      {provider.keyRequired && !provider.userKey && <span class="badge">needs a key</span>}
                      {provider.userKey && <span class="badge badge-good">your key</span>}
                    </div>
                    <p class="card-text">{provider.description}</p>
                    <LimitLine limit={provider.limit} />
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  )
}

const PERIODS: Readonly<Record<number, string>> = { 1: 'second', 60: 'minute', 3600: 'hour', 86400: 'day' }
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
/** For limits with a period of at most this many seconds, the time of the reset isn't shown. */
const SOON = 60

/** Shows how much is left of a provider's limit. */
export function LimitLine(props: { readonly limit: Provider['limit'] }) {
  const { requests, perSeconds, remaining, resetsAt } = props.limit
  if (requests === null || perSeconds === null || remaining === null) {
    return <p class="limit">no published limit</p>
  }
  const text = `${formatCount(remaining)} of ${formatCount(requests)} requests left, per ${PERIODS[perSeconds] ?? `${formatCount(perSeconds)} seconds`}`
  return (
    <p class="limit">
      <meter
        aria-hidden="true"
        value={remaining}
        max={requests || 1}
        low={0.2 * requests}
        optimum={requests}
      />
      <span class="figures">{text}</span>
      {remaining === 0 && resetsAt && (
        <span>· again {perSeconds <= SOON ? 'in a moment' : `at ${clock.format(new Date(resetsAt))}`}</span>
      )}
    </p>
  )
}
