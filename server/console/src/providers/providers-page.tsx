import { api } from '../api.ts'
import { href } from '../router.ts'
import { useSearch } from '../ui/field.tsx'
import { Page } from '../ui/page.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import { LimitLine } from './limit-line.tsx'

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
