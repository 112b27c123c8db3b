import { useEffect } from 'preact/hooks'
import type { Account } from '../../../client/index.ts'
import { NamedKeys } from '../account/named-keys.tsx'
import { RotateKey } from '../account/rotate-key.tsx'
import { SavedKeys } from '../account/saved-keys.tsx'
import { api } from '../api.ts'
import { formatCount } from '../format.ts'
import { href } from '../router.ts'
import { setSessionKey } from '../session.ts'
import { Failure, Loading, Meter } from '../ui/feedback.tsx'
import { Icon } from '../ui/icons.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { latest, useResource } from '../use-resource.ts'

/** The account's plan and usage, its key, and its keys for providers. */
export function AccountPage() {
  const [resource, again] = useResource((signal) => api().account.get({ signal }), [])
  useEffect(() => {
    document.title = 'Account · Parquetry'
  }, [])
  const record = latest(resource)
  return (
    <div class="page page-narrow">
      <PageHead
        title={record?.name ?? 'Account'}
        actions={
          <>
            <a class="button" href={href(['account', 'all'])}>
              <Icon name="people" />
              <span>All accounts</span>
            </a>
            <button type="button" class="button" onClick={() => setSessionKey(undefined)}>
              <Icon name="out" />
              <span>Sign out</span>
            </button>
          </>
        }
      />
      {!record && resource.state === 'failed' && <Failure error={resource.error} onRetry={again} />}
      {!record && resource.state === 'loading' && <Loading label="Loading your account" />}
      {record && (
        <>
          <Usage record={record} />
          <RotateKey hint={record.apiKeyHint} onRotated={again} />
          <NamedKeys />
          <SavedKeys />
        </>
      )}
    </div>
  )
}

function Usage(props: { readonly record: Account }) {
  const { usage, limits, plan } = props.record
  const share = (used: number, limit: number | null | undefined) =>
    limit == null ? `${formatCount(used)}, no limit` : `${formatCount(used)} of ${formatCount(limit)}`
  return (
    <section class="card" aria-labelledby="plan">
      <div class="section-head">
        <h2 id="plan">Plan</h2>
        <span class="badge badge-plain">{plan}</span>
      </div>
      <Meter
        label={`Exported rows in ${monthName(usage.month)}`}
        used={usage.exportedRows}
        limit={limits.exportedRows ?? undefined}
        text={share(usage.exportedRows, limits.exportedRows)}
      />
      <Meter
        label="Private repositories"
        used={usage.privateRepositories}
        limit={limits.privateRepositories ?? undefined}
        text={share(usage.privateRepositories, limits.privateRepositories)}
      />
      <div class="meter-words">
        <span>Paid providers</span>
        <span>{limits.paidProviders ? 'included' : 'not included'}</span>
      </div>
      <p class="hint">Rows that this console shows count as exported. Counting rows costs nothing.</p>
    </section>
  )
}

function monthName(month: string): string {
  const time = new Date(`${month}-01T00:00:00Z`)
  return Number.isNaN(time.getTime())
    ? month
    : new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(time)
}
