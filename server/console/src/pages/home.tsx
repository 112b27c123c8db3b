import { api, type Shelves, shelves } from '../api.ts'
import { plural } from '../format.ts'
import { href, navigate, updateQuery } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/feedback.tsx'
import { SearchBox } from '../ui/field.tsx'
import { Card, Page } from '../ui/page.tsx'
import { Loaded, useResource, useRested } from '../ui/resource.tsx'
import { DropZone } from '../upload/drop-zone.tsx'
import { handOver } from '../upload/formats.ts'
import { askRepository, DatasetList, Private } from './repository.tsx'

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

function Repositories({ homes, tables }: Shelves) {
  if (homes.length === 0) {
    return (
      <Empty
        icon="folder"
        title="No repositories yet"
        action={{ says: 'New repository', to: createRepository }}
      >
        Drop a file above to begin. A repository holds datasets that belong together, and says who may read
        them.
      </Empty>
    )
  }
  return (
    <div class="shelves">
      {homes.map(({ id, name, description, permission, private: hidden }) => {
        const own = tables.filter((table) => table.repositoryId === id)
        return (
          <section key={id} class="shelf" aria-labelledby={`home-${id}`}>
            <div class="shelf-head">
              <h2 id={`home-${id}`}>
                <a href={href(['repositories', id])}>{name}</a>
                {hidden && <Private />}
              </h2>
              <p class="hint">
                {description || plural(own.length, 'dataset')}
                {permission === 'Read' && ' · read only'}
              </p>
            </div>
            {own.length > 0 ? (
              <DatasetList datasets={own} />
            ) : (
              <p class="shelf-empty">
                No datasets yet.{' '}
                {permission === 'Write' && (
                  <a href={href(['repositories', id, 'upload'])}>Drop a file into it</a>
                )}
              </p>
            )}
          </section>
        )
      })}
    </div>
  )
}

function Found({ homes, tables, search }: Shelves & { readonly search: string }) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const found = tables.filter((table) => {
    const home = homes.find(({ id }) => id === table.repositoryId)
    const columns = (table.columns ?? []).map(({ name }) => name)
    const hay = [table.name, table.description, home?.name ?? '', ...columns].join(' ').toLowerCase()
    return words.every((word) => hay.includes(word))
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
      <DatasetList datasets={found} homes={homes} />
    </>
  )
}

const MOST = 50

/** Series and categories that match the search, of all providers, as far as the server knows them. */
function FoundSeries(props: { readonly search: string }) {
  const words = useRested(props.search.trim())
  const resource = useResource((signal) => api().search(words, { limit: MOST, signal }), [words])
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
