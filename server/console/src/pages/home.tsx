import { useEffect, useState } from 'preact/hooks'
import type { DatasetSummary, Repository } from '../../../client/index.ts'
import { api } from '../api.ts'
import { DatasetList } from '../dataset/dataset-list.tsx'
import { plural } from '../format.ts'
import { href, navigate, updateQuery } from '../router.ts'
import { Empty, Failure, Loading } from '../ui/feedback.tsx'
import { SearchBox } from '../ui/field.tsx'
import { Icon } from '../ui/icons.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { latest, useResource } from '../use-resource.ts'
import { FoundSeries } from './found-series.tsx'
import { RepositoryDialog } from './repository-dialog.tsx'

/** The repositories that the key can read, and a search over all datasets. */
export function HomePage(props: { readonly search: string }) {
  const [resource, again] = useResource(async (signal) => {
    const [homes, tables] = await Promise.all([
      api().repositories.list({ signal }),
      api().datasets.list({ signal }),
    ])
    return { homes, tables }
  }, [])
  const [creating, setCreating] = useState(false)
  useEffect(() => {
    document.title = 'Data · Parquetry'
  }, [])
  const loaded = latest(resource)

  return (
    <div class="page">
      <PageHead
        title="Data"
        actions={
          <>
            {loaded && (
              <SearchBox
                label="Find datasets, columns, series"
                value={props.search}
                onValue={(search) => updateQuery({ search })}
              />
            )}
            <button type="button" class="button button-primary" onClick={() => setCreating(true)}>
              <Icon name="plus" />
              <span>New repository</span>
            </button>
          </>
        }
      />
      {!loaded && resource.state === 'failed' && <Failure error={resource.error} onRetry={again} />}
      {!loaded && resource.state === 'loading' && <Loading label="Loading your data" lines={6} />}
      {loaded && props.search.trim() === '' && (
        <Repositories homes={loaded.homes} tables={loaded.tables} onCreate={() => setCreating(true)} />
      )}
      {loaded && props.search.trim() !== '' && (
        <>
          <Found homes={loaded.homes} tables={loaded.tables} search={props.search} />
          <FoundSeries search={props.search} />
        </>
      )}
      {creating && (
        <RepositoryDialog
          repository={undefined}
          onSaved={(repository) => navigate(href(['repositories', repository.id]))}
          onClose={() => setCreating(false)}
        />
      )}
    </div>
  )
}

function Repositories(props: {
  readonly homes: readonly Repository[]
  readonly tables: readonly DatasetSummary[]
  readonly onCreate: () => void
}) {
  if (props.homes.length === 0) {
    return (
      <Empty
        icon="folder"
        title="No repositories yet"
        action={
          <button type="button" class="button button-primary" onClick={props.onCreate}>
            New repository
          </button>
        }
      >
        A repository holds datasets that belong together. Make one, then drop a file into it.
      </Empty>
    )
  }
  return (
    <div class="shelves">
      {props.homes.map((home) => {
        const own = props.tables.filter((table) => table.repositoryId === home.id)
        return (
          <section key={home.id} class="shelf" aria-labelledby={`home-${home.id}`}>
            <div class="shelf-head">
              <h2 id={`home-${home.id}`}>
                <a href={href(['repositories', home.id])}>{home.name}</a>
                {home.private && <Private />}
              </h2>
              <p class="hint">
                {home.description || plural(own.length, 'dataset')}
                {home.permission === 'Read' && ' · read only'}
              </p>
            </div>
            {own.length === 0 ? (
              <p class="shelf-empty">
                No datasets yet.{' '}
                {home.permission === 'Write' && (
                  <a href={href(['repositories', home.id, 'upload'])}>Drop a file into it</a>
                )}
              </p>
            ) : (
              <DatasetList datasets={own} />
            )}
          </section>
        )
      })}
    </div>
  )
}

function Found(props: {
  readonly homes: readonly Repository[]
  readonly tables: readonly DatasetSummary[]
  readonly search: string
}) {
  const words = props.search.toLowerCase().split(/\s+/).filter(Boolean)
  const found = props.tables.filter((table) => {
    const home = props.homes.find(({ id }) => id === table.repositoryId)
    const text = [
      table.name,
      table.description,
      home?.name ?? '',
      ...(table.columns ?? []).map(({ name }) => name),
    ]
    const hay = text.join(' ').toLowerCase()
    return words.every((word) => hay.includes(word))
  })
  if (found.length === 0) {
    return (
      <Empty icon="search" title={`No dataset is called “${props.search}”`}>
        Names, descriptions and columns are searched. Try a part of a word.
      </Empty>
    )
  }
  return (
    <>
      <p class="hint" role="status">
        {plural(found.length, 'dataset')}
      </p>
      <DatasetList datasets={found} homes={props.homes} />
    </>
  )
}

export function Private() {
  return (
    <span class="badge" title="Only its owner and members can read it">
      <Icon name="lock" />
      private
    </span>
  )
}
