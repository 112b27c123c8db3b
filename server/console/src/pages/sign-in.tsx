import { useEffect, useState } from 'preact/hooks'
import { isStatus, messageOf, newClient } from '../api.ts'
import { setSessionKey } from '../session.ts'
import { Button } from '../ui/button.tsx'
import { Check, Field } from '../ui/field.tsx'
import { Mark } from '../ui/icons.tsx'

/**
 * Asks for the key, and accepts it if a request with it succeeds. The address doesn't change, so links work after
 * signing in.
 */
export function SignIn() {
  const [key, setKey] = useState('')
  const [remember, setRemember] = useState(false)
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Parquetry'
  }, [])

  const submit = async (event: Event) => {
    event.preventDefault()
    const typed = key.trim()
    setBusy(true)
    const refusal = await refusalOf(typed)
    setBusy(false)
    setError(refusal)
    if (refusal === undefined) setSessionKey(typed, remember)
  }
  return (
    <main class="sign-in" id="main">
      <div class="sign-in-card">
        <p class="sign-in-brand">
          <Mark />
          Parquetry
        </p>
        <h1>Find a table. Look at it. Take it away.</h1>
        <form onSubmit={submit}>
          <Field
            label="Your key"
            type="password"
            plain
            autoFocus
            value={key}
            onValue={setKey}
            error={error}
          />
          <Check checked={remember} onChecked={setRemember}>
            Remember me on this computer <span class="hint">— otherwise until the browser closes</span>
          </Check>
          <Button
            submit
            look="primary wide"
            disabled={busy || key.trim() === ''}
            says={busy ? 'Signing in…' : 'Sign in'}
          />
        </form>
        <p class="hint">
          No key? Whoever runs this server makes one with <code>parquetry account create NAME</code>. Its
          first start prints the key of the account root.
        </p>
      </div>
    </main>
  )
}

/** Why a key is not accepted; undefined if it is. */
async function refusalOf(key: string): Promise<string | undefined> {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    return 'A key is one word of letters, digits and signs. Paste it as it was shown.'
  }
  try {
    await newClient(key).account.get()
  } catch (failure) {
    return isStatus(failure, 401)
      ? 'This key is not known here. It may have been replaced by a newer one.'
      : messageOf(failure)
  }
}
