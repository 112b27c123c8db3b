import type { AccountChanges, ManagedAccount } from '../../../client/index.ts'
import { api } from '../api.ts'
import { plural } from '../format.ts'
import { href } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/feedback.tsx'
import { Select } from '../ui/field.tsx'
import { ask, LineForm } from '../ui/form.tsx'
import { Card, Page } from '../ui/page.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import { perform } from '../ui/toast.tsx'
import { showKey } from './account-page.tsx'

/** Management of all accounts, for admins: create, change the plan, disable and enable, replace the key. */
export function AccountsPage() {
  const resource = useResource(async (signal) => {
    const [accounts, plans] = await Promise.all([
      api().accounts.list({ signal }),
      api().accounts.plans({ signal }),
    ])
    return { accounts, plans: plans.map(({ name }) => name) }
  }, [])
  return (
    <Page trail={[['Account', href(['account'])]]} title="Accounts">
      <Loaded
        of={resource}
        label="Loading the accounts"
        missing={() => (
          <Empty icon="lock" title="For admins">
            Only admins can create and change accounts, and you are not an admin.
          </Empty>
        )}
      >
        {({ accounts, plans }) => (
          <Card title={plural(accounts.length, 'account')}>
            <ul class="key-list">
              {accounts.map((account) => (
                <AccountLine key={account.id} {...{ account, plans }} />
              ))}
            </ul>
            <LineForm
              action="Make the account"
              fields={{
                name: { label: 'Name of the new account', value: '', plain: true, required: true },
                plan: { label: 'Its plan', value: plans[0] ?? '', options: plans },
              }}
              onSubmit={async (fields) => {
                const { name, apiKey } = await api().accounts.create(fields)
                showKey(name, apiKey)
              }}
            />
          </Card>
        )}
      </Loaded>
    </Page>
  )
}

function AccountLine(props: { readonly account: ManagedAccount; readonly plans: readonly string[] }) {
  const { name, plan, disabled, admin, apiKeyHint } = props.account
  const update = (fields: AccountChanges) => api().accounts.update(name, fields)
  const change = (fields: AccountChanges, done: string, before: AccountChanges) =>
    perform(
      () => update(fields),
      done,
      () => update(before),
    )
  const rekey = () =>
    ask({
      title: `A new key for ${name}?`,
      text: 'Its first key stops working at once, also in scripts and browsers.',
      action: 'Make the new key',
      danger: true,
      async onSubmit() {
        showKey(name, (await api().accounts.rotateKey(name)).apiKey)
      },
    })
  const done = disabled ? `${name} is enabled again.` : `${name} is disabled; its data stays.`
  return (
    <li class="key-item account-item">
      <div>
        <strong>{name}</strong> {admin && <span class="badge badge-plain">admin</span>}
        {disabled && <span class="badge">disabled</span>}
        <p class="hint">
          key <code>{apiKeyHint}</code>
        </p>
      </div>
      <Select
        label={`Plan of ${name}`}
        value={plan}
        options={props.plans}
        onValue={(wanted) => change({ plan: wanted }, `${name} has the plan ${wanted} now.`, { plan })}
      />
      <Button look="small" label={`New key for ${name}`} to={rekey} says="New key…" />
      <Button
        look="small"
        label={disabled ? `Enable ${name}` : `Disable ${name}`}
        to={() => change({ disabled: !disabled }, done, { disabled })}
        says={disabled ? 'Enable' : 'Disable'}
      />
    </li>
  )
}
