import { useState } from 'preact/hooks'
import type { Repository } from '../../../client/index.ts'
import { api } from '../api.ts'
import { useAttempt } from '../ui/attempt.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'

/** Creates or edits a repository. */
export function RepositoryDialog(props: {
  readonly repository: Repository | undefined
  readonly onSaved: (repository: Repository) => void
  readonly onClose: () => void
}) {
  const { repository } = props
  const [name, setName] = useState(repository?.name ?? '')
  const [description, setDescription] = useState(repository?.description ?? '')
  const [isPrivate, setPrivate] = useState(repository?.private ?? false)

  const { busy, error, attempt } = useAttempt(async () => {
    const fields = { name: name.trim(), description: description.trim(), private: isPrivate }
    const { repositories } = api()
    props.onSaved(
      repository ? await repositories.update(repository.id, fields) : await repositories.create(fields),
    )
  })

  return (
    <Dialog title={repository ? 'Change the repository' : 'New repository'} onClose={props.onClose}>
      <form onSubmit={attempt}>
        <div class="dialog-body">
          <Field label="Name" value={name} onValue={setName} required maxLength={255} error={error} />
          <Field
            label="Description"
            value={description}
            onValue={setDescription}
            hint="What its datasets share."
          />
          <label class="check">
            <input
              type="checkbox"
              checked={isPrivate}
              onChange={(event) => setPrivate(event.currentTarget.checked)}
            />
            <span>
              Private{' '}
              <span class="hint">
                — only you and the members that you name can read it. You name them on the page “Members”.
              </span>
            </span>
          </label>
        </div>
        <footer class="dialog-foot">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="button button-primary" disabled={busy || name.trim() === ''}>
            {repository ? 'Save' : 'Create'}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
