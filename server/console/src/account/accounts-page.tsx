import { useEffect, useState } from 'preact/hooks'
import type { ManagedAccount } from '../../../client/index.ts'
import { api, isStatus } from '../api.ts'
import { plural } from '../format.ts'
import { href } from '../router.ts'
import { useAttempt } from '../ui/attempt.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Empty, Failure, Loading } from '../ui/feedback.tsx'
import { Field, Select } from '../ui/field.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { announce } from '../ui/toast.tsx'
import { latest, useResource } from '../use-resource.ts'
import { NewKey } from './new-key.tsx'

/** Management of all accounts, for admins: create, change the plan, disable and enable, replace the key. */
export function AccountsPage() {
  const [resource, again] = useResource(async (signal) => {
    const [accounts, plans] = await Promise.all([
      api().accounts.list({ signal }),
      api().accounts.plans({ signal }),
    ])
    return { accounts, plans: plans.map(({ name }) => name) }
  }, [])
  const [fresh, setFresh] = useState<{ readonly name: string; readonly apiKey: string }>()
  const [problem, setProblem] = useState<unknown>()
  useEffect(() => {
    document.title = 'Accounts · Parquetry'
  }, [])
  const loaded = latest(resource)
  const made = (key: { readonly name: string; readonly apiKey: string }) => {
    setFresh(key)
    again()
  }
  const change = async (
    account: ManagedAccount,
    changes: { plan?: string; disabled?: boolean },
    done: string,
  ) => {
    setProblem(undefined)
    try {
      await api().accounts.update(account.name, changes)
      announce(done)
    } catch (failure) {
      setProblem(failure)
    }
    again()
  }
  return (
    <div class="page">
      <PageHead trail={[{ label: 'Account', href: href(['account']) }]} title="Accounts" />
      {resource.state === 'failed' && isStatus(resource.error, 403) && (
        <Empty icon="lock" title="For admins">
          Only admins can create and change accounts, and you are not an admin.
        </Empty>
      )}
      {resource.state === 'failed' && !isStatus(resource.error, 403) && (
        <Failure error={resource.error} onRetry={again} />
      )}
      {!loaded && resource.state === 'loading' && <Loading label="Loading the accounts" lines={4} />}
      {problem !== undefined && <Failure error={problem} />}
      {loaded && (
        <section class="card" aria-labelledby="accounts-list">
          <h2 id="accounts-list">{plural(loaded.accounts.length, 'account')}</h2>
          <ul class="key-list">
            {loaded.accounts.map((account) => (
              <AccountLine
                key={account.id}
                account={account}
                plans={loaded.plans}
                onChange={change}
                onKey={made}
              />
            ))}
          </ul>
          <AddAccount plans={loaded.plans} onMade={made} />
        </section>
      )}
      {fresh && (
        <NewKey
          title={`The key of ${fresh.name}`}
          apiKey={fresh.apiKey}
          onClose={() => setFresh(undefined)}
        />
      )}
    </div>
  )
}

function AccountLine(props: {
  readonly account: ManagedAccount
  readonly plans: readonly string[]
  readonly onChange: (
    account: ManagedAccount,
    changes: { plan?: string; disabled?: boolean },
    done: string,
  ) => Promise<void>
  readonly onKey: (key: { readonly name: string; readonly apiKey: string }) => void
}) {
  const { account } = props
  const { name, plan, disabled } = account
  const [rekeying, setRekeying] = useState(false)
  return (
    <li class="account-item">
      <div>
        <strong>{name}</strong> {account.admin && <span class="badge badge-plain">admin</span>}
        {disabled && <span class="badge">disabled</span>}
        <p class="hint">
          key <code>{account.apiKeyHint}</code>
        </p>
      </div>
      <Select
        label={`Plan of ${name}`}
        hideLabel
        value={plan}
        options={props.plans.map((value) => ({ value, label: value }))}
        onValue={(wanted) => props.onChange(account, { plan: wanted }, `${name} has the plan ${wanted} now.`)}
      />
      <button
        type="button"
        class="button button-small"
        aria-label={`New key for ${name}`}
        onClick={() => setRekeying(true)}
      >
        New key…
      </button>
      <button
        type="button"
        class="button button-small"
        aria-label={disabled ? `Enable ${name}` : `Disable ${name}`}
        onClick={() =>
          props.onChange(
            account,
            { disabled: !disabled },
            disabled ? `${name} is enabled again.` : `${name} is disabled; its data stays.`,
          )
        }
      >
        {disabled ? 'Enable' : 'Disable'}
      </button>
      {rekeying && (
        <Confirm
          title={`A new key for ${name}?`}
          text="Its first key stops working at once, also in scripts and browsers."
          action="Make the new key"
          onConfirm={async () => {
            const { apiKey } = await api().accounts.rotateKey(name)
            setRekeying(false)
            props.onKey({ name, apiKey })
          }}
          onClose={() => setRekeying(false)}
        />
      )}
    </li>
  )
}

function AddAccount(props: {
  readonly plans: readonly string[]
  readonly onMade: (made: { readonly name: string; readonly apiKey: string }) => void
}) {
  const [name, setName] = useState('')
  const [plan, setPlan] = useState(props.plans[0] ?? '')
  const { busy, error, attempt } = useAttempt(async () => {
    props.onMade(await api().accounts.create({ name: name.trim(), plan }))
    setName('')
  })
  return (
    <form class="member-form" onSubmit={attempt}>
      <Field
        label="Name of the new account"
        value={name}
        onValue={setName}
        error={error}
        autocomplete="off"
        spellcheck={false}
      />
      <Select
        label="Its plan"
        value={plan}
        options={props.plans.map((value) => ({ value, label: value }))}
        onValue={setPlan}
      />
      <button type="submit" class="button button-primary" disabled={busy || name.trim() === ''}>
        Make the account
      </button>
    </form>
  )
}
