import { useAttempt } from './attempt.ts'
import { Dialog } from './dialog.tsx'

/** Asks before an action that can't be undone, and shows the error if it fails. */
export function Confirm(props: {
  readonly title: string
  readonly text: string
  readonly action: string
  readonly onConfirm: () => Promise<void>
  readonly onClose: () => void
}) {
  const { busy, error, attempt } = useAttempt(props.onConfirm)
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
        <button type="button" class="button button-danger" disabled={busy} onClick={attempt}>
          {props.action}
        </button>
      </footer>
    </Dialog>
  )
}
