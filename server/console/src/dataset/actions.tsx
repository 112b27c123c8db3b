import { useState } from 'preact/hooks'
import type { Dataset } from '../../../client/index.ts'
import { api } from '../api.ts'
import { href, navigate } from '../router.ts'
import { Confirm } from '../ui/confirm.tsx'
import { copyText } from '../ui/copy.tsx'
import { Icon } from '../ui/icons.tsx'
import { Popover } from '../ui/menu.tsx'
import { announce } from '../ui/toast.tsx'
import { type View, viewQuestion } from '../view/view.ts'
import { CopyAs } from './copy-as.tsx'
import { DownloadDialog } from './download-dialog.tsx'
import { RenameDialog } from './rename-dialog.tsx'

type Open = 'download' | 'copy' | 'rename' | 'delete' | undefined

/** The actions on a whole dataset. */
export function DatasetActions(props: {
  readonly dataset: Dataset
  readonly canWrite: boolean
  /** False for a dataset that follows series, whose rows come from them. */
  readonly takesRows: boolean
  /** Undefined until its columns are known. */
  readonly view: View | undefined
  readonly rowCount: number | undefined
  readonly onChanged: () => void
}) {
  const { dataset } = props
  const [open, setOpen] = useState<Open>()
  const query = props.view ? viewQuestion(props.view) : {}
  const close = () => setOpen(undefined)
  const choose = (dialog: Exclude<Open, undefined>, closeMenu: () => void) => {
    closeMenu()
    setOpen(dialog)
  }
  return (
    <>
      {props.canWrite && props.takesRows && (
        <a
          class="button"
          href={href(['repositories', dataset.repositoryId, 'upload'], { dataset: String(dataset.id) })}
        >
          <Icon name="upload" />
          <span>Add rows</span>
        </a>
      )}
      <button
        type="button"
        class="button"
        onClick={() => copyText(location.href, 'The link to this view is')}
      >
        <Icon name="link" />
        <span>Copy link</span>
      </button>
      <button type="button" class="button" disabled={!props.view} onClick={() => setOpen('copy')}>
        <Icon name="code" />
        <span>Copy as…</span>
      </button>
      <button
        type="button"
        class="button button-primary"
        disabled={dataset.rowCount === 0 || !props.view}
        onClick={() => setOpen('download')}
      >
        <Icon name="download" />
        <span>Download</span>
      </button>
      {props.canWrite && (
        <Popover label="More">
          {(shut) => (
            <>
              <button type="button" class="menu-item" onClick={() => choose('rename', shut)}>
                <Icon name="edit" />
                Name and description
              </button>
              <button type="button" class="menu-item is-danger" onClick={() => choose('delete', shut)}>
                <Icon name="trash" />
                Delete the dataset
              </button>
            </>
          )}
        </Popover>
      )}
      {open === 'download' && (
        <DownloadDialog dataset={dataset} query={query} rowCount={props.rowCount} onClose={close} />
      )}
      {open === 'copy' && <CopyAs datasetId={dataset.id} query={query} onClose={close} />}
      {open === 'rename' && (
        <RenameDialog
          title="Name and description"
          name={dataset.name}
          description={dataset.description}
          onSave={async (fields) => {
            await api().datasets.update(dataset.id, fields)
            props.onChanged()
          }}
          onClose={close}
        />
      )}
      {open === 'delete' && (
        <Confirm
          title={`Delete ${dataset.name}?`}
          text="All of its rows will be deleted, for everybody. This can't be undone."
          action="Delete the dataset"
          onConfirm={async () => {
            await api().datasets.delete(dataset.id)
            announce(`${dataset.name} is deleted.`)
            navigate(href(['repositories', dataset.repositoryId]))
          }}
          onClose={close}
        />
      )}
    </>
  )
}
