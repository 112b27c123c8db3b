import type { ConnectorContext, UpstreamAnswer, UpstreamRequest } from '../connector.ts'
import { Failure, notUnderstood } from '../failures.ts'

/** How a service is asked for the data of a request that it has put in a queue; `id` names the request there. */
export interface SdmxQueue {
  readonly status: (id: string) => UpstreamRequest
  readonly data: (id: string) => UpstreamRequest
}

/** The longest answer that says no more than that a request is in the queue. */
const LONGEST = 20_000

/**
 * Sends requests of a service that prepares large answers in a queue, and waits for those, each time twice as long, until
 * they are ready. A request without an id in the queue is sent again, because the service then finds its answer.
 * Throws the failure `queued` if that takes too long.
 */
export function queued({ send, pause }: ConnectorContext, queue: SdmxQueue): ConnectorContext['send'] {
  return async (request) => {
    let answer = await send(request)
    for (let attempt = 1; isQueued(answer); attempt++) {
      if (!(await pause(attempt))) throw new Failure('queued')
      const id = idIn(answer)
      if (id === undefined) {
        answer = await send(request)
        continue
      }
      const at = (one: UpstreamRequest) => ({
        ...one,
        ...(request.root !== undefined && { root: request.root }),
      })
      const status = statusIn(await send(at(queue.status(id))))
      if (status === 'AVAILABLE') return send(at(queue.data(id)))
      if (status !== 'SUBMITTED' && status !== 'PROCESSING') throw notUnderstood(`The queue says ${status}.`)
    }
    return answer
  }
}

/** `<queued><id>…</id><status>SUBMITTED</status></queued>`, `{warning: {status: 413}}`, or a footer with code 413. */
function isQueued({ text }: UpstreamAnswer): boolean {
  if (text.length > LONGEST) return false
  return /<(\w+:)?queued\b|"warning"\s*:\s*\{[^{}]*"status"\s*:\s*"?413|<\w+:Message\b[^>]*\bcode="413"|ASYNCHRONOUS_RESPONSE/.test(
    text,
  )
}

function idIn({ text }: UpstreamAnswer): string | undefined {
  return /<(?:\w+:)?id>\s*([\w-]+)\s*</.exec(text)?.[1]
}

function statusIn({ text }: UpstreamAnswer): string {
  return (
    /<(?:\w+:)?status>\s*([A-Z_]+)\s*</.exec(text)?.[1] ??
    /"status"\s*:\s*"([A-Z_]+)"/.exec(text)?.[1] ??
    'nothing'
  )
}
