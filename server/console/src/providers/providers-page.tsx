import { useEffect, useState } from 'preact/hooks'
import type { Provider } from '../../../client/index.ts'
import { api } from '../api.ts'
import { href } from '../router.ts'
import { Failure, Loading } from '../ui/feedback.tsx'
import { SearchBox } from '../ui/field.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { latest, useResource } from '../use-resource.ts'
import { LimitLine } from './limit-line.tsx'

/** All providers, with a search over their names, slugs and descriptions. */
export function ProvidersPage() {
  const [resource, again] = useResource((signal) => api().providers.list({ signal }), [])
  const [search, setSearch] = useState('')
  useEffect(() => {
    document.title = 'Providers · Parquetry'
  }, [])
  const all = latest(resource)
  const wanted = search.trim().toLowerCase()
  const shown = all?.filter((provider) =>
    `${provider.name} ${provider.slug} ${provider.description}`.toLowerCase().includes(wanted),
  )
  return (
    <div class="page">
      <PageHead
        title="Providers"
        actions={<SearchBox label="Find a provider" value={search} onValue={setSearch} />}
      >
        <p class="lede">Economic series of central banks and statistical offices, all read the same way.</p>
      </PageHead>
      {!all && resource.state === 'failed' && <Failure error={resource.error} onRetry={again} />}
      {!all && resource.state === 'loading' && <Loading label="Loading the providers" lines={6} />}
      {shown?.length === 0 && (
        <p class="hint">No provider matches “{search}”. Try the name of a country or an office.</p>
      )}
      {shown && (
        <ul class="cards">
          {shown.map((provider) => (
            <li key={provider.slug}>
              <ProviderCard provider={provider} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function ProviderCard(props: { readonly provider: Provider }) {
  const { provider } = props
  return (
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
  )
}
