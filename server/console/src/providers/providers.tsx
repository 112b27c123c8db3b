import { useEffect, useRef, useState } from 'preact/hooks'
import type { Category, Provider } from '../../../client/index.ts'
import { askForKey } from '../account/account-pages.tsx'
import { api } from '../api.ts'
import { formatCount } from '../format.ts'
import { useEvent } from '../hooks.ts'
import { type Address, href, updateQuery } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/feedback.tsx'
import { useSearch } from '../ui/field.tsx'
import { LineForm } from '../ui/form.tsx'
import { Icon } from '../ui/icons.tsx'
import { Page } from '../ui/page.tsx'
import { Loaded, type Resource, useResource } from '../ui/resource.tsx'
import { failureOf, SeriesList, SeriesView } from './series.tsx'

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

function LimitLine(props: { readonly limit: Provider['limit'] }) {
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

/** A provider: the tree of its categories, and beside it the series of a category, or one series. */
export function ProviderPage({ slug, query }: { readonly slug: string; readonly query: Address['query'] }) {
  const resource = useResource((signal) => api().providers.get(slug, { signal }), [slug])
  // After a request to the provider, less of its limit is left.
  useEvent('parquetry:asked', resource.again)
  return (
    <Loaded
      of={resource}
      page
      label="Loading the provider"
      missing={() => (
        <Empty
          page
          icon="globe"
          title={`No provider is called “${slug}”`}
          action={{ says: 'All providers', to: href(['providers']) }}
        />
      )}
    >
      {(provider) => <ProviderView provider={provider} query={query} />}
    </Loaded>
  )
}

function ProviderView(props: { readonly provider: Provider; readonly query: Address['query'] }) {
  const { provider, query } = props
  const { slug, takesKey, userKey } = provider
  const resource = useResource((signal) => browse(slug, '', signal), [slug, userKey])
  return (
    <Page
      trail={[['Providers', href(['providers'])]]}
      title={provider.name}
      actions={
        <>
          <Button icon="external" to={provider.homepage} apart says="Website" />
          {takesKey && (
            <Button
              icon="key"
              to={() => askForKey([provider])}
              says={userKey ? 'Change your key' : 'Use your own key'}
            />
          )}
        </>
      }
      intro={
        <>
          <p class="lede">{provider.description}</p>
          <LimitLine limit={provider.limit} />
        </>
      }
    >
      <div class="provider-panes">
        <aside class="provider-tree" aria-label="Categories">
          <LineForm
            action="Open"
            onlyReads
            fields={{ id: { label: 'Open a series by its id', value: '', plain: true, required: true } }}
            onSubmit={async ({ id }) => updateQuery({ series: id }, true)}
          />
          <Loaded of={resource} label="Loading the categories" failed={() => null}>
            {(top) => <Tree {...{ slug, top }} selected={query['path']} />}
          </Loaded>
        </aside>
        <section aria-label="Series">
          <Content {...{ provider, query }} categories={resource} />
        </section>
      </div>
    </Page>
  )
}

function Content(props: {
  readonly provider: Provider
  readonly query: Address['query']
  readonly categories: Resource<unknown>
}) {
  const { provider, query } = props
  const { path, series } = query
  const pane = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (series !== undefined) pane.current?.scrollIntoView({ block: 'nearest' })
  }, [series])
  if (series !== undefined) {
    return (
      <div class="series-pane" ref={pane}>
        {path !== undefined && (
          <button type="button" class="link" onClick={() => updateQuery({ series: '' }, true)}>
            Back to the list
          </button>
        )}
        <SeriesView key={series} provider={provider} id={series} />
      </div>
    )
  }
  if (path !== undefined) {
    return <SeriesList key={path} {...{ provider, path }} offset={Number(query['offset']) || 0} />
  }
  return (
    <Loaded of={props.categories} label="Loading the categories" failed={failureOf(provider)}>
      {() => (
        <Empty icon="plot" title="Choose a category">
          Open the tree until a category has series. Then choose a series to plot it and to save it.
        </Empty>
      )}
    </Loaded>
  )
}

const SEARCHED_FROM = 8
const MOST_SHOWN = 200

interface TreeProps {
  readonly slug: string
  /** The path of the category whose series are shown. */
  readonly selected: string | undefined
}

/** The categories of a provider, loaded as they are opened. Opening one that has series shows them. */
function Tree(props: TreeProps & { readonly top: readonly Category[] }) {
  const { top } = props
  const textOf = ({ name, description }: Category) => `${name} ${description}`
  const { box, found } = useSearch('Find a category', top, textOf)
  return (
    <>
      {top.length > SEARCHED_FROM && box}
      {found.length === 0 && (
        <p class="hint">
          {top.length === 0
            ? 'This provider has no categories; open a series by its id.'
            : 'No category matches.'}
        </p>
      )}
      <ul class="tree">
        {found.slice(0, MOST_SHOWN).map((category) => (
          <Branch key={category.path} {...props} {...category} />
        ))}
      </ul>
      {found.length > MOST_SHOWN && (
        <p class="hint">{found.length - MOST_SHOWN} more. Find them by a part of their name.</p>
      )}
    </>
  )
}

function Branch({ slug, selected, path, name, description, series }: TreeProps & Category) {
  const [opened, setOpened] = useState(false)
  const below = useResource(async (signal) => (opened ? browse(slug, path, signal) : undefined), [opened])
  return (
    <li>
      <details
        onToggle={(event) => {
          if (!event.currentTarget.open) return
          if (series) updateQuery({ path, series: '', offset: '' }, true)
          setOpened(true)
        }}
      >
        <summary class={selected === path ? 'is-selected' : ''} title={description || name}>
          {name} {series && <Icon name="plot" />}
        </summary>
        {opened && (
          <Loaded of={below} label="Loading the categories" lines={1}>
            {(children) =>
              children.length === 0 ? (
                <p class="hint">{series ? 'Its series are shown beside.' : 'There is nothing below.'}</p>
              ) : (
                <ul>
                  {children.map((child) => (
                    <Branch key={child.path} {...{ slug, selected }} {...child} />
                  ))}
                </ul>
              )
            }
          </Loaded>
        )}
      </details>
    </li>
  )
}

async function browse(slug: string, path: string, signal: AbortSignal): Promise<readonly Category[]> {
  return (await api().providers.browse(slug, path, { signal })).categories
}
