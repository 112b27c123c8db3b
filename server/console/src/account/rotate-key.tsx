import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { setSessionKey } from '../session.ts'
import { useAttempt } from '../ui/attempt.ts'
import { CopyButton } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'

/** Makes a new key in place of the old one and shows it once. */
export function RotateKey(props: { readonly hint: string; readonly onRotated: () => void }) {
  const [asking, setAsking] = useState(false)
  const [fresh, setFresh] = useState<string>()

  const { busy, error, attempt } = useAttempt(async () => {
    const { apiKey } = await api().account.rotateKey()
    setSessionKey(apiKey)
    setFresh(apiKey)
  })
  const close = () => {
    setAsking(false)
    if (fresh !== undefined) props.onRotated()
    setFresh(undefined)
  }

  return (
    <section class="card" aria-labelledby="api-key">
      <div class="section-head">
        <h2 id="api-key">Key</h2>
        <button type="button" class="button" onClick={() => setAsking(true)}>
          Replace the key…
        </button>
      </div>
      <p>
        Your key ends in <code>{props.hint}</code>. It gives access to everything that this account can do, so
        keep it like a password.
      </p>
      {asking && (
        <Dialog title={fresh === undefined ? 'Replace the key?' : 'Your new key'} onClose={close}>
          <div class="dialog-body">
            {fresh === undefined ? (
              <p>
                The old key stops working at once, also in scripts and other tabs. This tab continues with the
                new one.
              </p>
            ) : (
              <>
                <p>Copy it now. It is shown only this once, and nobody can look it up later.</p>
                <div class="secret">
                  <code data-testid="new-key">{fresh}</code>
                  <CopyButton text={fresh} what="The key is" />
                </div>
              </>
            )}
            {error && (
              <p class="field-error" role="alert">
                {error}
              </p>
            )}
          </div>
          <footer class="dialog-foot">
            {fresh === undefined ? (
              <>
                <button type="button" class="button" onClick={close}>
                  Keep the old one
                </button>
                <button type="button" class="button button-danger" disabled={busy} onClick={attempt}>
                  Replace the key
                </button>
              </>
            ) : (
              <button type="button" class="button button-primary" onClick={close}>
                I have copied it
              </button>
            )}
          </footer>
        </Dialog>
      )}
    </section>
  )
}
