import type { Provider } from '../../../client/index.ts'
import { formatCount } from '../format.ts'

const PERIODS: Readonly<Record<number, string>> = { 1: 'second', 60: 'minute', 3600: 'hour', 86400: 'day' }
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
/** For limits with a period of at most this many seconds, the time of the reset isn't shown. */
const SOON = 60

/** Shows how much is left of a provider's limit. */
export function LimitLine(props: { readonly limit: Provider['limit'] }) {
  const { requests, perSeconds, remaining, resetsAt } = props.limit
  if (requests === null || perSeconds === null || remaining === null) {
    return <p class="limit">no published limit</p>
  }
  const text = `${formatCount(remaining)} of ${formatCount(requests)} requests left, per ${PERIODS[perSeconds] ?? `${formatCount(perSeconds)} seconds`}`
  return (
    <p class="limit">
      <meter
        aria-hidden="true"
        value={remaining}
        max={requests || 1}
        low={0.2 * requests}
        optimum={requests}
      />
      <span class="figures">{text}</span>
      {remaining === 0 && resetsAt && (
        <span>· again {perSeconds <= SOON ? 'in a moment' : `at ${clock.format(new Date(resetsAt))}`}</span>
      )}
    </p>
  )
}
