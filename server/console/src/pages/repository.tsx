import type { DatasetSummary, Repository } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatAge, formatBytes, formatCount, plural } from '../format.ts'
import { href, navigate } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/feedback.tsx'
import { useSearch } from '../ui/field.tsx'
import { ask } from '../ui/form.tsx'
import { Icon } from '../ui/icons.tsx'
import { Menu } from '../ui/menu.tsx'
import { ALL_DATA, DATA, Page } from '../ui/page.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import { announce } from '../ui/toast.tsx'

/** One repository and its datasets. */
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

/** Asks what a repository is called, and who may read it. */
export function askRepository(
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

export function Private() {
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

/** A list of datasets with name, columns, size and age. */
export function DatasetList(props: {
  readonly datasets: readonly DatasetSummary[]
  /** The repositories, if the list contains datasets of several of them. */
  readonly homes?: readonly Repository[]
}) {
  const homeOf = ({ repositoryId }: DatasetSummary) => {
    const home = props.homes?.find(({ id }) => id === repositoryId)
    return home && `${home.name} · `
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
