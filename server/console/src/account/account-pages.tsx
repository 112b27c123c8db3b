import type { Account, AccountChanges, ManagedAccount, Provider, Repository } from '../../../client/index.ts'
import { api } from '../api.ts'
import { formatAge, formatCount, formatDateTime, plural } from '../format.ts'
import { href } from '../router.ts'
import { setSessionKey } from '../session.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { openDialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/feedback.tsx'
import { Select } from '../ui/field.tsx'
import { ask, LineForm } from '../ui/form.tsx'
import { Card, Page } from '../ui/page.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import { announce, perform } from '../ui/toast.tsx'

/** The account's plan and usage, its key, and its keys for providers. */
export function AccountPage() {
  const resource = useResource((signal) => api().account.get({ signal }), [])
  return (
    <Page
      title={resource.value?.name ?? 'Account'}
      actions={
        <>
          <Button icon="people" to={href(['account', 'all'])} says="All accounts" />
          <Button icon="out" to={() => setSessionKey(undefined)} says="Sign out" />
        </>
      }
    >
      <Loaded of={resource} label="Loading your account">
        {(record) => (
          <>
            <Usage {...record} />
            <FirstKey {...record} />
            <NamedKeys />
            <Links />
            <SavedKeys />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const monthName = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })

function Usage({ usage, limits, plan }: Account) {
  return (
    <Card title="Plan" head={<span class="badge badge-plain">{plan}</span>}>
      <Meter
        label={`Exported rows in ${monthName.format(new Date(usage.month))}`}
        used={usage.exportedRows}
        limit={limits.exportedRows}
      />
      <Meter
        label="Private repositories"
        used={usage.privateRepositories}
        limit={limits.privateRepositories}
      />
      <Meter label="Public repositories" used={usage.publicRepositories} limit={limits.publicRepositories} />
      <div class="meter-words">
        <span>Paid providers</span>
        <span>{limits.paidProviders ? 'included' : 'not included'}</span>
      </div>
      <p class="hint">Rows that this console shows count as exported. Counting rows costs nothing.</p>
    </Card>
  )
}

/** How much of a limit is used; null if there is none. */
function Meter(props: { readonly label: string; readonly used: number; readonly limit: number | null }) {
  const { label, used, limit } = props
  const text = `${formatCount(used)}${limit === null ? ', no limit' : ` of ${formatCount(limit)}`}`
  return (
    <div class="meter-row">
      <div class="meter-words">
        <span>{label}</span>
        <span class="figures">{text}</span>
      </div>
      {limit !== null && (
        <meter aria-label={label} value={used} max={limit || 1} high={0.8 * limit} optimum={0} title={text} />
      )}
    </div>
  )
}

/** The first key of the account, and how to replace it. */
function FirstKey({ name, apiKeyHint }: Account) {
  const replace = () =>
    ask({
      title: 'Replace the key?',
      text: 'The old key stops working at once, also in scripts. This browser continues with the new one.',
      action: 'Replace the key',
      danger: true,
      async onSubmit() {
        const { apiKey } = await api().account.rotateKey()
        setSessionKey(apiKey)
        showKey(name, apiKey)
      },
    })
  return (
    <Card title="Key" head={<Button to={replace} says="Replace the key…" />}>
      <p>
        Your key ends in <code>{apiKeyHint}</code>. It gives access to everything that this account can do, so
        keep it like a password.
      </p>
    </Card>
  )
}

/** The links of the account that work without a key, to end them. */
function Links() {
  const resource = useResource((signal) => api().account.listLinks({ signal }), [])
  const end = (id: number) => perform(() => api().account.deleteLink(id), 'The link has ended.')
  return (
    <Card title="Links without a key" hint="You make them where a dataset is shared.">
      <Loaded of={resource} label="Loading the links" lines={2}>
        {(links) => (
          <ul class="key-list">
            {links.length === 0 && <li class="shelf-empty">No links.</li>}
            {links.map(({ id, name, path, expiresAt, lastUsedAt }) => (
              <li key={id} class="key-item">
                <strong>{name ?? path.split('?', 1)[0]}</strong>
                <span class="hint">
                  until {formatDateTime(expiresAt)},{' '}
                  {lastUsedAt === null ? 'never used' : `used ${formatAge(lastUsedAt)}`}
                </span>
                <Button look="small" label={`End the link ${id}`} to={() => end(id)} says="End" />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  )
}

const DAY = 86_400_000

const fieldsFor = (repositories: readonly Repository[]) => ({
  name: { label: 'What it is for', value: '', plain: true, required: true },
  right: { label: 'What it may do', value: 'read', options: { write: 'read and write', read: 'only read' } },
  days: {
    label: 'When it ends',
    value: '0',
    options: { 0: 'never', 30: 'in 30 days', 90: 'in 90 days', 365: 'in a year' },
  },
  where: { label: 'Where', value: 'all', options: { all: 'in all repositories', some: 'only in some' } },
  ...Object.fromEntries(
    repositories.map(({ id, name }) => [
      repositoryField(id),
      { label: name, value: false, when: ({ where }: { readonly where?: unknown }) => where === 'some' },
    ]),
  ),
})

const repositoryField = (id: number) => `repository ${id}`

/** Additional keys of the account, one for each use, so that each can be deleted without affecting the others. */
function NamedKeys() {
  const resource = useResource((signal) => api().account.listKeys({ signal }), [])
  const { value: repositories } = useResource((signal) => api().repositories.list({ signal }), [])
  const end = (name: string) =>
    ask({
      title: `End the key ${name}?`,
      text: 'Everything that still uses it will be refused.',
      action: 'End the key',
      danger: true,
      async onSubmit() {
        await api().account.deleteKey(name)
        announce(`The key ${name} has ended.`)
      },
    })
  return (
    <Card
      title="Further keys"
      hint="One for each job or person, so that you can end one without the others. Replacing the first key does not affect them."
    >
      <Loaded of={resource} label="Loading the keys" lines={2}>
        {(keys) => (
          <ul class="key-list">
            {keys.length === 0 && <li class="shelf-empty">No further keys.</li>}
            {keys.map((key) => (
              <li key={key.name} class="key-item">
                <strong>{key.name}</strong>
                <code>{key.keyHint}</code>
                <span class="hint">
                  {key.readOnly ? 'only reads' : 'reads and writes'}
                  {key.repositories && ` in ${plural(key.repositories.length, 'repository', 'repositories')}`}
                  ,{' '}
                  {key.expiresAt
                    ? `ends ${formatDateTime(key.expiresAt)}`
                    : `made ${formatAge(key.createdAt)}`}
                  , {key.lastUsedAt === null ? 'never used' : `used ${formatAge(key.lastUsedAt)}`}
                </span>
                <Button look="small" label={`End the key ${key.name}`} to={() => end(key.name)} says="End" />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {repositories && (
        <LineForm
          action="Make a key"
          fields={fieldsFor(repositories)}
          onSubmit={async ({ name, right, days, where, ...chosen }) => {
            const expiresAt = days === '0' ? null : new Date(Date.now() + Number(days) * DAY).toISOString()
            const ids = repositories.map(({ id }) => id)
            const only = ids.filter((id) => (chosen as Record<string, unknown>)[repositoryField(id)])
            if (where === 'some' && only.length === 0) throw new Error('Choose at least one repository.')
            const limits = { readOnly: right === 'read', ...(where === 'some' && { repositories: only }) }
            showKey(name, (await api().account.createKey({ name, expiresAt, ...limits })).apiKey)
          }}
        />
      )}
    </Card>
  )
}

/** Shows a new key, which can't be shown again later. */
function showKey(name: string, apiKey: string): void {
  const content = (close: () => void) => (
    <>
      <div class="dialog-body">
        <p>Copy it now. It is shown only this once, and nobody can look it up later.</p>
        <div class="secret">
          <code data-testid="new-key">{apiKey}</code>
          <CopyButton text={apiKey} what="The key is" />
        </div>
      </div>
      <footer class="dialog-foot">
        <Button look="primary" to={close} says="I have copied it" />
      </footer>
    </>
  )
  openDialog({ title: `The key of ${name}`, content })
}

/** The account's own keys for providers: shows their last characters, saves and deletes them. */
function SavedKeys() {
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
        onValue={(next) => change({ plan: next }, `${name} has the plan ${next} now.`, { plan })}
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
