import { useEffect, useState } from 'preact/hooks'
import { clientOf, isStatus, messageOf } from '../api.ts'
import { setSessionKey } from '../session.ts'
import { Field } from '../ui/field.tsx'
import { Mark } from '../ui/icons.tsx'

/**
 * Asks for the key, and accepts it if a request with it succeeds. The address doesn't change, so links work after
 * signing in.
 */
export function SignIn() {
  const [key, setKey] = useState('')
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Parquetry'
  }, [])

  const submit = async (event: Event) => {
    event.preventDefault()
    const typed = key.trim()
    if (!/^[\x21-\x7e]+$/.test(typed)) {
      setError('A key is one word of letters, digits and signs. Paste it as it was shown.')
      return
    }
    setBusy(true)
    setError(undefined)
    try {
      await clientOf(typed).account.get()
      setSessionKey(typed)
    } catch (failure) {
      const refused = isStatus(failure, 401)
      setError(
        refused
          ? 'This key is not known here. It may have been replaced by a newer one.'
          : messageOf(failure),
      )
      setBusy(false)
    }
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
            autocomplete="off"
            spellcheck={false}
            autoFocus
            value={key}
            onValue={setKey}
            error={error}
            hint="It stays in this tab and is forgotten when the tab closes."
          />
          <button
            type="submit"
            class="button button-primary button-wide"
            disabled={busy || key.trim() === ''}
          >
            {busy ? 'Signing in…' : 'Sign in'}
          </button>
        </form>
        <p class="hint">
          No key? Whoever runs this server makes one with <code>parquetry account create NAME</code>. Its
          first start prints the key of the account root.
        </p>
      </div>
    </main>
  )
}
