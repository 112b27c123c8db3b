import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Dialog, openDialog } from '../ui/dialog.tsx'

/** Shows a new key, which can't be shown again later. */
export function showKey(name: string, apiKey: string): void {
  openDialog((close) => (
    <Dialog title={`The key of ${name}`} onClose={close}>
      <div class="dialog-body">
        <p>Copy it now. It is shown only this once, and nobody can look it up later.</p>
        <div class="secret">
          <code data-testid="new-key">{apiKey}</code>
          <CopyButton text={apiKey} what="The key is" />
        </div>
      </div>
      <footer class="dialog-foot">
        <Button look="primary" onClick={close}>
          I have copied it
        </Button>
      </footer>
    </Dialog>
  ))
}
