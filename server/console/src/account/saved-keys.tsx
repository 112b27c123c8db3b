import type { Provider } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatAge } from '../format.ts'
import { Button } from '../ui/button.tsx'
import { ask } from '../ui/form.tsx'
import { Card } from '../ui/page.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import { announce, perform } from '../ui/toast.tsx'

/** The account's own keys for providers: shows their last characters, saves and deletes them. */
export function SavedKeys() {
  const resource = useResource(async (signal) => {
    const [saved, known] = await Promise.all([
      api().userKeys.list({ signal }),
      api().providers.list({ signal }),
    ])
    return { saved, known: known.filter((provider) => provider.takesKey) }
  }, [])
  const known = resource.value?.known ?? []
  const remove = (provider: string) =>
    perform(() => api().userKeys.delete(provider), `The key for ${provider} is deleted.`)
  return (
    <Card
      title="Keys for providers"
      head={<Button disabled={known.length === 0} to={() => askForKey(known)} says="Save a key…" />}
      hint="With your own key, that key’s limit applies to you. It is stored encrypted and used only for you."
    >
      <Loaded of={resource} label="Loading the saved keys" lines={2}>
        {({ saved }) => (
          <ul class="key-list">
            {saved.length === 0 && <li class="shelf-empty">No keys saved.</li>}
            {saved.map(({ provider, keyHint, updatedAt }) => (
              <li key={provider} class="key-item">
                <strong>{known.find(({ slug }) => slug === provider)?.name ?? provider}</strong>
                <code>{keyHint}</code>
                <span class="hint">saved {formatAge(updatedAt)}</span>
                <Button look="small" to={() => remove(provider)} says="Delete" />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  )
}

/** Asks for a key for one of these providers; the first that needs one is chosen. */
export function askForKey(providers: readonly Provider[]): void {
  const first = providers.find(({ keyRequired }) => keyRequired) ?? providers[0]!
  ask({
    title: 'Save a key for a provider',
    action: 'Save',
    busyAction: 'Trying it…',
    fields: {
      slug: {
        label: 'Provider',
        value: first.slug,
        options: providers.map(({ slug, name }) => [slug, name] as const),
      },
      key: {
        label: 'Key',
        value: '',
        plain: true,
        required: true,
        hint: 'The key that you got from the provider. It is tested once if the provider allows that.',
      },
    },
    async onSubmit({ slug, key }) {
      await api().userKeys.save(slug, key)
      announce('The key is saved.')
    },
  })
}
