import { useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { Dialog } from './dialog.tsx'

/** Asks before something that can't be undone, and shows why where it fails. */
export function Confirm(props: {
  readonly title: string
  readonly text: string
  readonly action: string
  readonly onConfirm: () => Promise<void>
  readonly onClose: () => void
}) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const confirm = async () => {
    setBusy(true)
    try {
      await props.onConfirm()
    } catch (failure) {
      setError(messageOf(failure))
      setBusy(false)
    }
  }
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <div class="dialog-body">
        <p>{props.text}</p>
        {error && (
          <p class="field-error" role="alert">
            {error}
          </p>
        )}
      </div>
      <footer class="dialog-foot">
        <button type="button" class="button" onClick={props.onClose}>
          Keep it
        </button>
        <button type="button" class="button button-danger" disabled={busy} onClick={confirm}>
          {props.action}
        </button>
      </footer>
    </Dialog>
  )
}
