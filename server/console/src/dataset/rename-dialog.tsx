import { useState } from 'preact/hooks'
import { useAttempt } from '../ui/attempt.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'

/** Edits a name and a description. */
export function RenameDialog(props: {
  readonly title: string
  readonly name: string
  readonly description: string
  readonly onSave: (fields: { name: string; description: string }) => Promise<void>
  readonly onClose: () => void
}) {
  const [name, setName] = useState(props.name)
  const [description, setDescription] = useState(props.description)
  const { busy, error, attempt } = useAttempt(async () => {
    await props.onSave({ name: name.trim(), description: description.trim() })
    props.onClose()
  })
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form onSubmit={attempt}>
        <div class="dialog-body">
          <Field label="Name" value={name} onValue={setName} required error={error} />
          <Field label="Description" value={description} onValue={setDescription} />
        </div>
        <footer class="dialog-foot">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="button button-primary" disabled={busy || name.trim() === ''}>
            Save
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
