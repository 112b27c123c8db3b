import { useEffect, useRef, useState } from 'preact/hooks'
import type { Provider } from '../../../client/index.ts'
import { askForKey } from '../account/saved-keys.tsx'
import { api } from '../api.ts'
import { type Address, href, updateQuery } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/feedback.tsx'
import { Field } from '../ui/field.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { NoPage, Page } from '../ui/page.tsx'
import { type Resource, useResource } from '../use-resource.ts'
import { LimitLine } from './limit-line.tsx'
import { failureOf } from './provider-failure.tsx'
import { SeriesList } from './series-list.tsx'
import { SeriesView } from './series-view.tsx'
import { Tree } from './tree.tsx'

/** A provider: the tree of its categories, and beside it the series of a category, or one series. */
export function ProviderPage({ slug, query }: { readonly slug: string; readonly query: Address['query'] }) {
  const resource = useResource((signal) => api().providers.get(slug, { signal }), [slug])
  const [, again] = resource
  useEffect(() => {
    // After a request to the provider, less of its limit is left.
    addEventListener('parquetry:asked', again)
    return () => removeEventListener('parquetry:asked', again)
  }, [])
  return (
    <Loaded
      of={resource}
      page
      label="Loading the provider"
      missing={() => (
        <NoPage
          icon="globe"
          title={`No provider is called “${slug}”`}
          to={['All providers', href(['providers'])]}
        />
      )}
    >
      {(provider) => <ProviderView provider={provider} query={query} />}
    </Loaded>
  )
}

function ProviderView({
  provider,
  query,
}: {
  readonly provider: Provider
  readonly query: Address['query']
}) {
  const { slug, takesKey, userKey } = provider
  const resource = useResource(
    async (signal) => (await api().providers.browse(slug, '', { signal })).categories,
    [slug, userKey],
  )
  const select = (next: string) => updateQuery({ path: next, series: '', offset: '' }, true)
  return (
    <Page
      trail={[['Providers', href(['providers'])]]}
      title={provider.name}
      actions={
        <>
          <Button icon="external" href={provider.homepage} apart>
            Website
          </Button>
          {takesKey && (
            <Button icon="key" onClick={() => askForKey([provider])}>
              {userKey ? 'Change your key' : 'Use your own key'}
            </Button>
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
          <OpenById />
          <Loaded of={resource} label="Loading the categories" failed={() => null}>
            {(top) => <Tree {...{ slug, top }} selected={query['path']} onSelect={select} />}
          </Loaded>
        </aside>
        <section aria-label="Series">
          <Content {...{ provider, query }} categories={resource} />
        </section>
      </div>
    </Page>
  )
}

function OpenById() {
  const [id, setId] = useState('')
  return (
    <form
      class="series-jump"
      onSubmit={(event) => {
        event.preventDefault()
        if (id.trim() !== '') updateQuery({ series: id.trim() }, true)
      }}
    >
      <Field label="Open a series by its id" value={id} onValue={setId} plain />
      <Button submit disabled={id.trim() === ''}>
        Open
      </Button>
    </form>
  )
}

function Content(props: {
  readonly provider: Provider
  readonly query: Address['query']
  readonly categories: readonly [Resource<unknown>, () => void]
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
