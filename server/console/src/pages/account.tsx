import type { Account } from '../../../client/index.ts'
import { Links } from '../account/links.tsx'
import { NamedKeys } from '../account/named-keys.tsx'
import { showKey } from '../account/new-key.tsx'
import { SavedKeys } from '../account/saved-keys.tsx'
import { api } from '../api.ts'
import { formatCount } from '../format.ts'
import { href } from '../router.ts'
import { setSessionKey } from '../session.ts'
import { Button } from '../ui/button.tsx'
import { Meter } from '../ui/feedback.tsx'
import { ask } from '../ui/form.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card, Page } from '../ui/page.tsx'
import { latest, useResource } from '../use-resource.ts'

/** The account's plan and usage, its key, and its keys for providers. */
export function AccountPage() {
  const resource = useResource((signal) => api().account.get({ signal }), [])
  return (
    <Page
      title={latest(resource[0])?.name ?? 'Account'}
      actions={
        <>
          <Button icon="people" href={href(['account', 'all'])}>
            All accounts
          </Button>
          <Button icon="out" onClick={() => setSessionKey(undefined)}>
            Sign out
          </Button>
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
  const meter = (label: string, used: number, limit: number | null | undefined) => (
    <Meter
      label={label}
      used={used}
      limit={limit ?? undefined}
      text={`${formatCount(used)}${limit == null ? ', no limit' : ` of ${formatCount(limit)}`}`}
    />
  )
  return (
    <Card title="Plan" head={<span class="badge badge-plain">{plan}</span>}>
      {meter(
        `Exported rows in ${monthName.format(new Date(usage.month))}`,
        usage.exportedRows,
        limits.exportedRows,
      )}
      {meter('Private repositories', usage.privateRepositories, limits.privateRepositories)}
      <div class="meter-words">
        <span>Paid providers</span>
        <span>{limits.paidProviders ? 'included' : 'not included'}</span>
      </div>
      <p class="hint">Rows that this console shows count as exported. Counting rows costs nothing.</p>
    </Card>
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
    <Card title="Key" head={<Button onClick={replace}>Replace the key…</Button>}>
      <p>
        Your key ends in <code>{apiKeyHint}</code>. It gives access to everything that this account can do, so
        keep it like a password.
      </p>
    </Card>
  )
}
