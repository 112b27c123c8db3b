import type { Provider } from '../api/records.ts'
import { formatCount, formatWindow } from '../format.ts'

/** How much is left of a provider's limit. */
export function LimitLine(props: { readonly limit: Provider['limit'] }) {
  const { limit } = props
  if (!limit) return <p class="limit">no limit that we know of</p>
  const share = limit.requests === 0 ? 0 : limit.remaining / limit.requests
  const text = `${formatCount(limit.remaining)} of ${formatCount(limit.requests)} requests left, per ${formatWindow(limit.perSeconds)}`
  return (
    <p class="limit">
      <span class={`limit-bar ${share < 0.2 ? 'is-low' : ''}`} aria-hidden="true">
        <span style={{ inlineSize: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
      </span>
      <span class="figures">{text}</span>
      {limit.remaining === 0 && limit.resetsAt && <span> · again at {clock(limit.resetsAt)}</span>}
    </p>
  )
}

function clock(iso: string): string {
  return new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' }).format(new Date(iso))
}
