import { CopyButton } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'

/** A new key, which can't be shown again later. */
export function NewKey(props: {
  readonly title: string
  readonly apiKey: string
  readonly onClose: () => void
}) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <div class="dialog-body">
        <p>Copy it now. It is shown only this once, and nobody can look it up later.</p>
        <div class="secret">
          <code data-testid="new-key">{props.apiKey}</code>
          <CopyButton text={props.apiKey} what="The key is" />
        </div>
      </div>
      <footer class="dialog-foot">
        <button type="button" class="button button-primary" onClick={props.onClose}>
          I have copied it
        </button>
      </footer>
    </Dialog>
  )
}
