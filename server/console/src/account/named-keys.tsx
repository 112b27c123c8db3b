import { useState } from 'preact/hooks'
import type { NamedKey } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatAge, formatDateTime } from '../format.ts'
import { useAttempt } from '../ui/attempt.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Failure, Loading } from '../ui/feedback.tsx'
import { Field, Select } from '../ui/field.tsx'
import { announce } from '../ui/toast.tsx'
import { latest, useResource } from '../use-resource.ts'
import { NewKey } from './new-key.tsx'

/** Additional keys of the account, one for each use, so that each can be deleted without affecting the others. */
export function NamedKeys() {
  const [resource, again] = useResource((signal) => api().account.listKeys({ signal }), [])
  const [fresh, setFresh] = useState<{ readonly name: string; readonly apiKey: string }>()
  const [ending, setEnding] = useState<NamedKey>()
  const keys = latest(resource)
  return (
    <section class="card" aria-labelledby="named-keys">
      <h2 id="named-keys">Further keys</h2>
      <p class="hint">
        One for each job or person, so that you can end one without the others. Replacing the first key does
        not affect them.
      </p>
      {!keys && resource.state === 'failed' && <Failure error={resource.error} onRetry={again} />}
      {!keys && resource.state === 'loading' && <Loading label="Loading the keys" lines={2} />}
      {keys?.length === 0 && <p class="shelf-empty">No further keys.</p>}
      {keys && keys.length > 0 && (
        <ul class="key-list">
          {keys.map((key) => (
            <li key={key.name} class="key-item">
              <strong>{key.name}</strong>
              <code>{key.keyHint}</code>
              <span class="hint">
                {key.readOnly ? 'only reads' : 'reads and writes'}, {endOf(key)}
              </span>
              <button
                type="button"
                class="button button-small"
                aria-label={`End the key ${key.name}`}
                onClick={() => setEnding(key)}
              >
                End
              </button>
            </li>
          ))}
        </ul>
      )}
      <AddKey
        onMade={(made) => {
          setFresh(made)
          again()
        }}
      />
      {fresh && (
        <NewKey title={`The key ${fresh.name}`} apiKey={fresh.apiKey} onClose={() => setFresh(undefined)} />
      )}
      {ending && (
        <Confirm
          title={`End the key ${ending.name}?`}
          text="Everything that still uses it will be refused."
          action="End the key"
          onConfirm={async () => {
            await api().account.deleteKey(ending.name)
            announce(`The key ${ending.name} has ended.`)
            setEnding(undefined)
            again()
          }}
          onClose={() => setEnding(undefined)}
        />
      )}
    </section>
  )
}

const RIGHTS = [
  { value: 'write', label: 'read and write' },
  { value: 'read', label: 'only read' },
] as const

const DAY = 86_400_000
const ENDS = [
  { value: '0', label: 'never' },
  { value: '30', label: 'in 30 days' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
] as const

function AddKey(props: {
  readonly onMade: (made: { readonly name: string; readonly apiKey: string }) => void
}) {
  const [name, setName] = useState('')
  const [right, setRight] = useState<(typeof RIGHTS)[number]['value']>('read')
  const [days, setDays] = useState<(typeof ENDS)[number]['value']>('0')
  const { busy, error, attempt } = useAttempt(async () => {
    const expiresAt = days === '0' ? null : new Date(Date.now() + Number(days) * DAY).toISOString()
    props.onMade(await api().account.createKey({ name: name.trim(), readOnly: right === 'read', expiresAt }))
    setName('')
  })
  return (
    <form class="member-form" onSubmit={attempt}>
      <Field
        label="What it is for"
        value={name}
        onValue={setName}
        error={error}
        autocomplete="off"
        spellcheck={false}
      />
      <Select label="What it may do" value={right} options={RIGHTS} onValue={setRight} />
      <Select label="When it ends" value={days} options={ENDS} onValue={setDays} />
      <button type="submit" class="button" disabled={busy || name.trim() === ''}>
        Make a key
      </button>
    </form>
  )
}

function endOf({ expiresAt, createdAt }: NamedKey): string {
  return expiresAt === null ? `made ${formatAge(createdAt)}` : `ends ${formatDateTime(expiresAt)}`
}
