import { type CallOptions, Client, ParquetryError, type RowsQuery } from '../../client/index.ts'
import { type RowWindow, rowsIn } from './csv.ts'
import { sessionKey, setSessionKey } from './session.ts'

/** Somebody is waiting: if a retry needs a longer pause than this many seconds, the error is shown instead. */
const LONGEST_PAUSE = 5

/**
 * The client of the signed-in account. If the server refuses the key, the session ends.
 *
 * @param send replaces `fetch`, for callers that need more of the request
 */
export function api(send: typeof fetch = plainFetch): Client {
  return newClient(sessionKey(), async (input, init) => {
    const response = await send(input, init)
    if (response.status === 401) setSessionKey(undefined)
    if (/\/providers\/[^/]+\/./.test(String(input))) dispatchEvent(new Event('parquetry:asked'))
    return response
  })
}

/** A client for a key that is not known to be good. */
export function newClient(key: string | undefined, send: typeof fetch = plainFetch): Client {
  return new Client({ url: location.origin, key, fetch: send, retry: { longestPause: LONGEST_PAUSE } })
}

/** With other `credentials`, browsers show their own password dialog when a key is refused. */
const plainFetch: typeof fetch = (input, init) => fetch(input, { ...init, credentials: 'omit' })

export type Shelves = Awaited<ReturnType<typeof shelves>>

/**
 * The datasets that the account may read, and their repositories: its own first.
 *
 * @param options `columns` lists wide tables with their columns, too
 */
export async function shelves(options: CallOptions & { readonly columns?: boolean } = {}) {
  const { columns, ...call } = options
  const [account, homes, list] = await Promise.all([
    api().account.get(call),
    api().repositories.list(call),
    api().datasets.list({ ...call, ...(columns && { columns }) }),
  ])
  const places = new Map(homes.map(({ id }, index) => [id, index]))
  const placeOf = ({ repositoryId }: (typeof list)[number]) => places.get(repositoryId) ?? homes.length
  return { homes, tables: list.toSorted((a, b) => placeOf(a) - placeOf(b)), account: account.name }
}

/** Fetches rows `skip` to `skip + top` of a query. @throws ParquetryError */
export async function fetchRows(
  datasetId: number,
  query: RowsQuery & { readonly top: number },
): Promise<RowWindow> {
  return rowsIn(await api().datasets.download(datasetId, 'csv', query))
}

/** Whether the error has one of these HTTP statuses. */
export function isStatus(error: unknown, ...statuses: number[]): error is ParquetryError {
  return error instanceof ParquetryError && statuses.includes(error.status)
}

/** The message to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof ParquetryError && error.code === 'unreachable') {
    return 'The server can not be reached. Check that it runs, then try again.'
  }
  if (error instanceof ParquetryError && error.code === 'interrupted') {
    return 'The answer broke off in the middle. Try again.'
  }
  return error instanceof Error ? error.message : String(error)
}
