import { Client, ParquetryError } from '../../client/index.ts'
import { sessionKey, setSessionKey } from './session.ts'

/** A person waits: a request that needs a longer pause than this many seconds is a failure to be shown. */
const LONGEST_PAUSE = 5

let current: { readonly key: string | undefined; readonly client: Client } | undefined

/** The client of whoever is signed in. Once the service refuses the key, the session ends. */
export function api(): Client {
  const key = sessionKey()
  if (current === undefined || current.key !== key) current = { key, client: clientOf(key, sessionFetch) }
  return current.client
}

/**
 * A client for a key.
 *
 * @param send in place of `fetch`, where a caller wants to see the request or its answer
 */
export function clientOf(key: string | undefined, send: typeof fetch = plainFetch): Client {
  return new Client({ url: location.origin, key, fetch: send, retry: { longestPause: LONGEST_PAUSE } })
}

/** Without `omit`, a refused key would open the browser's own password window. */
const plainFetch: typeof fetch = (input, init) => fetch(input, { ...init, credentials: 'omit' })

export const sessionFetch: typeof fetch = async (input, init) => endIfRefused(await plainFetch(input, init))

/** Signs out where the answer says that the key is no longer accepted. */
export function endIfRefused(response: Response): Response {
  if (response.status === 401) setSessionKey(undefined)
  return response
}

/** Whether the service answered with this status. */
export function isStatus(error: unknown, ...statuses: number[]): error is ParquetryError {
  return error instanceof ParquetryError && statuses.includes(error.status)
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** The sentence to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof ParquetryError && error.code === 'unreachable') {
    return 'The server can not be reached. Check that it runs, then try again.'
  }
  if (error instanceof ParquetryError && error.code === 'interrupted') {
    return 'The answer broke off in the middle. Try again.'
  }
  return error instanceof Error ? error.message : String(error)
}
