import { useEffect, useState } from 'preact/hooks'
import type { Provider } from '../../../client/index.ts'
import { SaveKeyDialog } from '../account/saved-keys.tsx'
import { api, isStatus } from '../api.ts'
import { type Address, href, updateQuery } from '../router.ts'
import { Empty, Failure, Loading } from '../ui/feedback.tsx'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icons.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { latest, useResource } from '../use-resource.ts'
import { LimitLine } from './limit-line.tsx'
import { ProviderFailure } from './provider-failure.tsx'
import { SeriesList } from './series-list.tsx'
import { SeriesView } from './series-view.tsx'
import { Tree } from './tree.tsx'

/** A provider: the tree of its categories, and beside it the series of a category, or one series. */
export function ProviderPage(props: { readonly slug: string; readonly query: Address['query'] }) {
  const { slug, query } = props
  const [resource, again] = useResource((signal) => api().providers.get(slug, { signal }), [slug])
  const provider = latest(resource)
  if (!provider) {
    if (resource.state !== 'failed') return <Loading page label="Loading the provider" lines={6} />
    if (isStatus(resource.error, 404)) return <Unknown slug={slug} />
    return <Failure error={resource.error} onRetry={again} />
  }
  return <ProviderView provider={provider} query={query} onAsked={again} />
}

function ProviderView(props: {
  readonly provider: Provider
  readonly query: Address['query']
  /** Called after a request to the provider, because its limit has changed. */
  readonly onAsked: () => void
}) {
  const { provider, query } = props
  const path = query['path']
  const series = query['series']
  const [saving, setSaving] = useState(false)
  const [id, setId] = useState('')
  const [resource, again] = useResource(
    async (signal) => (await api().providers.browse(provider.slug, '', { signal })).categories,
    [provider.slug, provider.userKey],
  )
  const top = latest(resource)
  const failed = resource.state === 'failed' && !top ? resource.error : undefined
  useEffect(() => {
    if (resource.state === 'ready') props.onAsked()
  }, [resource.state])
  useEffect(() => {
    document.title = `${provider.name} · Parquetry`
  }, [provider.name])
  useEffect(() => {
    if (series === undefined) return
    document.getElementById('provider-content')?.scrollIntoView?.({ block: 'nearest' })
  }, [series])

  return (
    <div class="page">
      <PageHead
        trail={[{ label: 'Providers', href: href(['providers']) }]}
        title={provider.name}
        actions={
          <>
            <a class="button" href={provider.homepage} target="_blank" rel="noreferrer">
              <Icon name="external" />
              <span>Website</span>
            </a>
            <button type="button" class="button" onClick={() => setSaving(true)}>
              <Icon name="key" />
              <span>{provider.userKey ? 'Change your key' : 'Use your own key'}</span>
            </button>
          </>
        }
      >
        <p class="lede">{provider.description}</p>
        <LimitLine limit={provider.limit} />
      </PageHead>
      <div class="provider-panes">
        <aside class="provider-tree" aria-label="Categories">
          <form
            class="series-jump"
            onSubmit={(event) => {
              event.preventDefault()
              if (id.trim() !== '') updateQuery({ series: id.trim() }, true)
            }}
          >
            <Field
              label="Open a series by its id"
              value={id}
              onValue={setId}
              spellcheck={false}
              autocomplete="off"
            />
            <button type="submit" class="button" disabled={id.trim() === ''}>
              Open
            </button>
          </form>
          {!top && failed === undefined && <Loading label="Loading the categories" />}
          {top && (
            <Tree
              slug={provider.slug}
              top={top}
              selected={path}
              onSelect={(next) => updateQuery({ path: next, series: '', offset: '' }, true)}
              onAsked={props.onAsked}
            />
          )}
        </aside>
        <section class="provider-content" id="provider-content" aria-label="Series">
          {series !== undefined ? (
            <SeriesView
              key={series}
              provider={provider}
              id={series}
              hasList={path !== undefined}
              onKey={() => setSaving(true)}
              onAsked={props.onAsked}
            />
          ) : path !== undefined ? (
            <SeriesList
              key={path}
              slug={provider.slug}
              path={path}
              offset={Number(query['offset']) || 0}
              name={provider.name}
              onKey={() => setSaving(true)}
              onAsked={props.onAsked}
            />
          ) : failed !== undefined ? (
            <ProviderFailure
              name={provider.name}
              error={failed}
              onRetry={again}
              onKey={() => setSaving(true)}
            />
          ) : (
            <Empty icon="plot" title="Choose a category">
              Open the tree until a category has series. Then choose a series to plot it and to save it.
            </Empty>
          )}
        </section>
      </div>
      {saving && (
        <SaveKeyDialog
          providers={[provider]}
          slug={provider.slug}
          onSaved={() => {
            setSaving(false)
            props.onAsked()
          }}
          onClose={() => setSaving(false)}
        />
      )}
    </div>
  )
}

function Unknown(props: { readonly slug: string }) {
  return (
    <Empty
      page
      icon="globe"
      title={`No provider is called “${props.slug}”`}
      action={
        <a class="button button-primary" href={href(['providers'])}>
          All providers
        </a>
      }
    />
  )
}
