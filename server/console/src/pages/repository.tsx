import { useEffect, useState } from 'preact/hooks'
import type { DatasetSummary, Repository } from '../../../client/index.ts'
import { api, isStatus } from '../api.ts'
import { DatasetList } from '../dataset/dataset-list.tsx'
import { formatAge, plural } from '../format.ts'
import { href, navigate } from '../router.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Empty, Failure, Loading } from '../ui/feedback.tsx'
import { SearchBox } from '../ui/field.tsx'
import { Icon } from '../ui/icons.tsx'
import { Popover } from '../ui/menu.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { announce } from '../ui/toast.tsx'
import { latest, useResource } from '../use-resource.ts'
import { Private } from './home.tsx'
import { RepositoryDialog } from './repository-dialog.tsx'

/** One repository and its datasets. */
export function RepositoryPage(props: { readonly id: number }) {
  const [resource, again] = useResource(
    async (signal) => {
      const [home, tables] = await Promise.all([
        api().repositories.get(props.id, { signal }),
        api().datasets.list({ signal }),
      ])
      return { home, tables: tables.filter((table) => table.repositoryId === props.id) }
    },
    [props.id],
  )
  const loaded = latest(resource)
  if (loaded) return <RepositoryView home={loaded.home} tables={loaded.tables} onChanged={again} />
  if (resource.state !== 'failed') return <Loading page label="Loading the repository" lines={6} />
  const missing = isStatus(resource.error, 403, 404)
  if (!missing) return <Failure error={resource.error} onRetry={again} />
  return (
    <Empty
      page
      icon="folder"
      title="This repository can't be shown"
      action={
        <a class="button button-primary" href={href([])}>
          All data
        </a>
      }
    >
      It does not exist, or it is private and you are no member of it.
    </Empty>
  )
}

function RepositoryView(props: {
  readonly home: Repository
  readonly tables: readonly DatasetSummary[]
  readonly onChanged: () => void
}) {
  const { home, tables } = props
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const [search, setSearch] = useState('')
  const choose = (dialog: 'edit' | 'delete', closeMenu: () => void) => {
    closeMenu()
    setOpen(dialog)
  }
  const canWrite = home.permission === 'Write'
  const wanted = search.trim().toLowerCase()
  const shown = tables.filter((table) => table.name.toLowerCase().includes(wanted))
  useEffect(() => {
    document.title = `${home.name} · Parquetry`
  }, [home.name])

  return (
    <div class="page">
      <PageHead
        trail={[{ label: 'Data', href: href([]) }]}
        title={
          <>
            {home.name} {home.private && <Private />}
          </>
        }
        actions={
          <>
            {tables.length > 5 && <SearchBox label="Find a dataset" value={search} onValue={setSearch} />}
            {canWrite && (
              <a class="button button-primary" href={href(['repositories', home.id, 'upload'])}>
                <Icon name="upload" />
                <span>New dataset</span>
              </a>
            )}
            {canWrite && (
              <Popover label="More">
                {(close) => (
                  <>
                    <a class="menu-item" href={href(['repositories', home.id, 'members'])}>
                      <Icon name="people" />
                      Members
                    </a>
                    <button type="button" class="menu-item" onClick={() => choose('edit', close)}>
                      <Icon name="edit" />
                      Name, description, privacy
                    </button>
                    <button type="button" class="menu-item is-danger" onClick={() => choose('delete', close)}>
                      <Icon name="trash" />
                      Delete the repository
                    </button>
                  </>
                )}
              </Popover>
            )}
          </>
        }
      >
        {home.description && <p class="lede">{home.description}</p>}
        <ul class="facts">
          <li>{plural(tables.length, 'dataset')}</li>
          <li>owned by {home.owner}</li>
          <li>{canWrite ? 'you can write' : 'you can read'}</li>
          <li>changed {formatAge(home.updatedAt)}</li>
        </ul>
      </PageHead>
      {tables.length === 0 && (
        <Empty
          icon="table"
          title="No datasets yet"
          action={
            canWrite && (
              <a class="button button-primary" href={href(['repositories', home.id, 'upload'])}>
                Drop a file
              </a>
            )
          }
        >
          {canWrite
            ? 'Drop a csv, Excel, Parquet or JSON file, and look at it before it is stored. A series of a provider can be saved here too.'
            : 'The members who can write have not added any datasets yet.'}
        </Empty>
      )}
      {tables.length > 0 && shown.length === 0 && <p class="hint">No dataset has “{search}” in its name.</p>}
      {shown.length > 0 && <DatasetList datasets={shown} />}
      {open === 'edit' && (
        <RepositoryDialog
          repository={home}
          onSaved={() => {
            setOpen(undefined)
            props.onChanged()
          }}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open === 'delete' && (
        <Confirm
          title={`Delete ${home.name}?`}
          text={`${tables.length === 0 ? 'It is empty.' : `All of its ${plural(tables.length, 'dataset')} will be deleted as well.`} This can't be undone.`}
          action="Delete the repository"
          onConfirm={async () => {
            await api().repositories.delete(home.id)
            announce(`${home.name} is deleted.`)
            navigate(href([]))
          }}
          onClose={() => setOpen(undefined)}
        />
      )}
    </div>
  )
}
