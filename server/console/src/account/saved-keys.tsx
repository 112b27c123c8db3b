import { useState } from 'preact/hooks'
import type { Provider, UserKey } from '../../../client/index.ts'
import { api, messageOf } from '../api.ts'
import { formatAge } from '../format.ts'
import { useAttempt } from '../ui/attempt.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Failure, Loading } from '../ui/feedback.tsx'
import { Field, Select } from '../ui/field.tsx'
import { announce } from '../ui/toast.tsx'
import { latest, useResource } from '../use-resource.ts'

/** The account's own keys for providers: shows their last characters, saves and deletes them. */
export function SavedKeys() {
  const [resource, again] = useResource(async (signal) => {
    const [saved, known] = await Promise.all([
      api().userKeys.list({ signal }),
      api().providers.list({ signal }),
    ])
    return { saved, known }
  }, [])
  const [adding, setAdding] = useState(false)
  const loaded = latest(resource)
  const remove = async (key: UserKey) => {
    try {
      await api().userKeys.delete(key.provider)
      announce(`The key for ${key.provider} is deleted.`)
    } catch (error) {
      announce(messageOf(error))
    }
    again()
  }
  return (
    <section class="card" aria-labelledby="provider-keys">
      <div class="section-head">
        <h2 id="provider-keys">Keys for providers</h2>
        <button type="button" class="button" disabled={!loaded} onClick={() => setAdding(true)}>
          Save a key…
        </button>
      </div>
      <p class="hint">
        With your own key, that key’s limit applies to you. It is stored encrypted and used only for you.
      </p>
      {!loaded && resource.state === 'failed' && <Failure error={resource.error} onRetry={again} />}
      {!loaded && resource.state === 'loading' && <Loading label="Loading the saved keys" lines={2} />}
      {loaded && loaded.saved.length === 0 && <p class="shelf-empty">No keys saved.</p>}
      {loaded && loaded.saved.length > 0 && (
        <ul class="key-list">
          {loaded.saved.map((key) => (
            <li key={key.provider} class="key-item">
              <strong>{loaded.known.find(({ slug }) => slug === key.provider)?.name ?? key.provider}</strong>
              <code>{key.keyHint}</code>
              <span class="hint">saved {formatAge(key.updatedAt)}</span>
              <button type="button" class="button button-small" onClick={() => remove(key)}>
                Delete
              </button>
            </li>
          ))}
        </ul>
      )}
      {adding && loaded && (
        <SaveKeyDialog
          providers={loaded.known}
          slug={loaded.known.find(({ keyRequired }) => keyRequired)?.slug ?? loaded.known[0]?.slug ?? ''}
          onSaved={() => {
            setAdding(false)
            again()
          }}
          onClose={() => setAdding(false)}
        />
      )}
    </section>
  )
}

export function SaveKeyDialog(props: {
  readonly providers: readonly Provider[]
  readonly slug: string
  readonly onSaved: () => void
  readonly onClose: () => void
}) {
  const [slug, setSlug] = useState(props.slug)
  const [key, setKey] = useState('')
  const { busy, error, attempt } = useAttempt(async () => {
    await api().userKeys.save(slug, key.trim())
    announce('The key is saved.')
    props.onSaved()
  })
  return (
    <Dialog title="Save a key for a provider" onClose={props.onClose}>
      <form onSubmit={attempt}>
        <div class="dialog-body">
          <Select
            label="Provider"
            value={slug}
            options={props.providers.map((provider) => ({ value: provider.slug, label: provider.name }))}
            onValue={setSlug}
          />
          <Field
            label="Key"
            value={key}
            onValue={setKey}
            autocomplete="off"
            spellcheck={false}
            required
            error={error}
            hint="The key that you got from the provider. It is tested once if the provider allows that."
          />
        </div>
        <footer class="dialog-foot">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="button button-primary" disabled={busy || key.trim() === ''}>
            {busy ? 'Trying it…' : 'Save'}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
