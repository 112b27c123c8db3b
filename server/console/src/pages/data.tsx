import type { DatasetSummary, Repository } from '../../../client/index.ts'
import { api, type Shelves, shelves } from '../api.ts'
import { formatAge, formatBytes, formatCount, plural } from '../format.ts'
import { href, navigate, updateQuery } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/feedback.tsx'
import { SearchBox, useSearch } from '../ui/field.tsx'
import { ask } from '../ui/form.tsx'
import { Icon } from '../ui/icons.tsx'
import { Menu } from '../ui/menu.tsx'
import { ALL_DATA, Card, DATA, Page } from '../ui/page.tsx'
import { Loaded, useResource, useRested } from '../ui/resource.tsx'
import { announce } from '../ui/toast.tsx'
import { DropZone } from '../upload/drop-zone.tsx'
import { handOver } from '../upload/formats.ts'

/** A place to drop a file, the repositories that the key can read, and a search over all datasets. */
export function HomePage({ search }: { readonly search: string }) {
  const resource = useResource((signal) => shelves({ signal }), [])
  const upload = (file: File) => {
    handOver(file)
    navigate(href(['upload']))
  }
  return (
    <Page
      title="Data"
      actions={
        <>
          <Button icon="upload" look="primary" to={href(['upload'])} says="Upload" />
          <Button icon="plus" to={createRepository} says="New repository" />
        </>
      }
      intro={
        <SearchBox
          label="Find datasets, columns, series"
          value={search}
          onValue={(next) => updateQuery({ search: next })}
        />
      }
    >
      {search.trim() === '' && <DropZone file={undefined} onFile={upload} />}
      <Loaded of={resource} label="Loading your data">
        {(found) =>
          search.trim() === '' ? (
            <Repositories {...found} />
          ) : (
            <>
              <Found {...found} search={search} />
              <FoundSeries search={search} />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

/** A new repository is private unless the user wants it otherwise. */
function createRepository(): void {
  askRepository('New repository', 'Create', { name: '', description: '', private: true }, async (fields) => {
    const { id } = await api().repositories.create(fields)
    navigate(href(['repositories', id]))
  })
}

function Repositories({ homes, tables, account }: Shelves) {
  const isForeign = (home: Repository) => !home.private && home.owner !== account
  const { own = [], foreign = [] } = Object.groupBy(homes, (home) => (isForeign(home) ? 'foreign' : 'own'))
  const shelf = (home: Repository) => {
    const inside = tables.filter(({ repositoryId }) => repositoryId === home.id)
    return <Shelf key={home.id} home={home} tables={inside} owner={isForeign(home) ? home.owner : ''} />
  }
  return (
    <div class="shelves">
      {own.length === 0 && (
        <Empty
          icon="folder"
          title="No repositories yet"
          action={{ says: 'New repository', to: createRepository }}
        >
          Drop a file above to begin. A repository holds datasets that belong together, and says who may read
          them.
        </Empty>
      )}
      {own.map(shelf)}
      {foreign.length > 0 && <h2 class="hint">Public repositories of others</h2>}
      {foreign.map(shelf)}
    </div>
  )
}

/** A repository with its datasets. `owner` is empty for one's own. */
function Shelf(props: {
  readonly home: Repository
  readonly tables: readonly DatasetSummary[]
  readonly owner: string
}) {
  const { home, tables, owner } = props
  const { id, name, description, permission } = home
  return (
    <section class="shelf" aria-labelledby={`home-${id}`}>
      <div class="shelf-head">
        <h2 id={`home-${id}`}>
          <a href={href(['repositories', id])}>{name}</a>
          {home.private && <Private />}
        </h2>
        <p class="hint">
          {description || plural(tables.length, 'dataset')}
          {owner && ` · owned by ${owner}`}
          {permission === 'Read' && ' · read only'}
        </p>
      </div>
      {tables.length > 0 ? (
        <DatasetList datasets={tables} />
      ) : (
        <p class="shelf-empty">
          No datasets yet.{' '}
          {permission === 'Write' && <a href={href(['repositories', id, 'upload'])}>Drop a file into it</a>}
        </p>
      )}
    </section>
  )
}

function Found({ homes, tables, account, search }: Shelves & { readonly search: string }) {
  const terms = search.toLowerCase().split(/\s+/).filter(Boolean)
  const found = tables.filter((table) => {
    const home = homes.find(({ id }) => id === table.repositoryId)
    const columns = (table.columns ?? []).map(({ name }) => name)
    const hay = [table.name, table.description, home?.name ?? '', ...columns].join(' ').toLowerCase()
    return terms.every((word) => hay.includes(word))
  })
  if (found.length === 0) {
    return (
      <Empty icon="search" title={`No dataset is called “${search}”`}>
        Names, descriptions and columns are searched. Try a part of a word.
      </Empty>
    )
  }
  return (
    <>
      <p class="hint" role="status">
        {plural(found.length, 'dataset')}
      </p>
      <DatasetList datasets={found} homes={homes} account={account} />
    </>
  )
}

const MOST = 50

/** Series and categories that match the search, of all providers, as far as the server knows them. */
function FoundSeries(props: { readonly search: string }) {
  const terms = useRested(props.search.trim())
  const resource = useResource((signal) => api().search(terms, { limit: MOST, signal }), [terms])
  return (
    <Card title="Series of providers">
      <Loaded of={resource} label="Looking for series" lines={3}>
        {(found) => (
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
      </Loaded>
    </Card>
  )
}

export function RepositoryPage({ id }: { readonly id: number }) {
  const resource = useResource(
    async (signal) => {
      const [home, tables] = await Promise.all([
        api().repositories.get(id, { signal }),
        api().datasets.list({ signal }),
      ])
      return { home, tables: tables.filter((table) => table.repositoryId === id) }
    },
    [id],
  )
  return (
    <Loaded
      of={resource}
      page
      label="Loading the repository"
      missing={() => (
        <Empty page icon="folder" title="This repository can't be shown" action={ALL_DATA}>
          It does not exist, or it is private and you are no member of it.
        </Empty>
      )}
    >
      {(found) => <RepositoryView {...found} />}
    </Loaded>
  )
}

function RepositoryView(props: { readonly home: Repository; readonly tables: readonly DatasetSummary[] }) {
  const { home, tables } = props
  const { id, name } = home
  const canWrite = home.permission === 'Write'
  const upload = href(['repositories', id, 'upload'])
  const edit = () =>
    askRepository('Change the repository', 'Save', home, (fields) => api().repositories.update(id, fields))
  const remove = () =>
    ask({
      title: `Delete ${name}?`,
      text: `${tables.length === 0 ? 'It is empty.' : `All of its ${plural(tables.length, 'dataset')} will be deleted as well.`} This can't be undone.`,
      action: 'Delete the repository',
      danger: true,
      async onSubmit() {
        await api().repositories.delete(id)
        announce(`${name} is deleted.`)
        navigate(href([]))
      },
    })
  return (
    <Page
      trail={[DATA]}
      title={name}
      badge={home.private && <Private />}
      actions={
        canWrite && (
          <>
            <Button icon="upload" look="primary" to={upload} says="New dataset" />
            <Menu
              label="More"
              items={[
                { icon: 'people', says: 'Members', to: href(['repositories', id, 'members']) },
                { icon: 'edit', says: 'Name, description, privacy', to: edit },
                { icon: 'trash', says: 'Delete the repository', danger: true, to: remove },
              ]}
            />
          </>
        )
      }
      intro={
        <>
          {home.description && <p class="lede">{home.description}</p>}
          <ul class="facts">
            <li>{plural(tables.length, 'dataset')}</li>
            <li>owned by {home.owner}</li>
            <li>{canWrite ? 'you can write' : 'you can read'}</li>
            <li>changed {formatAge(home.updatedAt)}</li>
          </ul>
        </>
      }
    >
      <Tables tables={tables} upload={canWrite ? upload : undefined} />
    </Page>
  )
}

function askRepository(
  title: string,
  action: string,
  before: Pick<Repository, 'name' | 'description' | 'private'>,
  onSubmit: (fields: typeof before) => Promise<unknown>,
): void {
  ask({
    title,
    action,
    fields: {
      name: { label: 'Name', value: before.name, required: true, maxLength: 255 },
      description: {
        label: 'Description',
        value: before.description,
        hint: 'What is in it, and where it comes from.',
      },
      private: {
        label: 'Private',
        value: before.private,
        hint: '— only you and the members that you name can read it. You name them on the page “Members”.',
      },
    },
    onSubmit,
  })
}

function Private() {
  return (
    <span class="badge" title="Only its owner and members can read it">
      <Icon name="lock" />
      private
    </span>
  )
}

/** `upload` is where to add a dataset, for whoever may. */
function Tables(props: { readonly tables: readonly DatasetSummary[]; readonly upload: string | undefined }) {
  const { tables, upload } = props
  const { box, search, found } = useSearch('Find a dataset', tables, ({ name }) => name)
  if (tables.length === 0) {
    return (
      <Empty
        icon="table"
        title="No datasets yet"
        action={upload === undefined ? undefined : { says: 'Drop a file', to: upload }}
      >
        {upload
          ? 'Drop a csv, Excel, Parquet or JSON file, and look at it before it is stored. A series of a provider can be saved here too.'
          : 'The members who can write have not added any datasets yet.'}
      </Empty>
    )
  }
  return (
    <>
      {tables.length > 5 && box}
      {found.length === 0 && <p class="hint">No dataset has “{search}” in its name.</p>}
      <DatasetList datasets={found} />
    </>
  )
}

const NAMED_COLUMNS = 6

function DatasetList(props: {
  readonly datasets: readonly DatasetSummary[]
  /** The repositories, if the list contains datasets of several of them. */
  readonly homes?: readonly Repository[]
  readonly account?: string
}) {
  const homeOf = ({ repositoryId }: DatasetSummary) => {
    const home = props.homes?.find(({ id }) => id === repositoryId)
    return home && `${home.owner === props.account ? '' : `${home.owner}/`}${home.name} · `
  }
  return (
    <ul class="dataset-list">
      {props.datasets.map((dataset) => (
        <li key={dataset.id}>
          <a class="dataset-item" href={href(['datasets', dataset.id])}>
            <span class="dataset-words">
              <span class="dataset-name">{dataset.name}</span>
              <span class="dataset-note">
                {homeOf(dataset)}
                {dataset.description || columnsText(dataset)}
              </span>
            </span>
            <span class="dataset-figure figures">
              {dataset.rowCount !== null && formatCount(dataset.rowCount)}{' '}
              <small>{dataset.rowCount === null ? 'query' : dataset.rowCount === 1 ? 'row' : 'rows'}</small>
            </span>
            <span class="dataset-figure figures is-minor">{formatBytes(dataset.bytes)}</span>
            <span class="dataset-figure is-minor">{formatAge(dataset.updatedAt)}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function columnsText({ columnCount, columns }: DatasetSummary): string {
  if (columnCount === 0) return 'no columns yet'
  if (!columns) return plural(columnCount, 'column')
  const names = columns.slice(0, NAMED_COLUMNS).map(({ name }) => name)
  const more = columnCount - names.length
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '')
}
