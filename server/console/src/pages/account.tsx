import type { Account } from '../../../client/index.ts'
import { NamedKeys, SavedKeys, showKey } from '../account/keys.tsx'
import { api } from '../api.ts'
import { formatAge, formatCount, formatDateTime } from '../format.ts'
import { href } from '../router.ts'
import { setSessionKey } from '../session.ts'
import { Button } from '../ui/button.tsx'
import { ask } from '../ui/form.tsx'
import { Card, Page } from '../ui/page.tsx'
import { Loaded, useResource } from '../ui/resource.tsx'
import { perform } from '../ui/toast.tsx'

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
