import { useEvent, useRound } from './hooks.ts'

/**
 * The state of the page as an address: `#/datasets/3?view=plot&filter=a%20gt%201`. It is the fragment of the URL, so
 * that filters don't appear in server logs, and any static file server can serve the page.
 */
export interface Address {
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

export function parseAddress(hash: string): Address {
  const [, path = '', query = ''] = /^#?([^?]*)\??(.*)$/s.exec(hash)!
  return {
    path: path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decode),
    query: Object.fromEntries(new URLSearchParams(query)),
  }
}

/** Builds the `href` of an address, without empty values in the query. */
export function href(
  path: readonly (string | number)[],
  query: Readonly<Record<string, string>> = {},
): string {
  const entries = Object.entries(query).filter(([, value]) => value !== '')
  const text = entries.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  const pathname = path.map((segment) => encodeURIComponent(segment)).join('/')
  return `#/${pathname}${text === '' ? '' : `?${text}`}`
}

export function navigate(address: string): void {
  location.hash = address
}

/** Changes parts of the query in place. The back button skips the change unless `push` is set. */
export function updateQuery(changes: Readonly<Record<string, string>>, push = false): void {
  const { path, query } = parseAddress(location.hash)
  const address = href(path, { ...query, ...changes })
  if (address === location.hash) return
  if (push) {
    location.hash = address
    return
  }
  history.replaceState(null, '', address)
  dispatchEvent(new HashChangeEvent('hashchange'))
}

/** The current address; the component renders again when it changes. */
export function useAddress(): Address {
  const [, again] = useRound()
  useEvent('hashchange', again)
  return parseAddress(location.hash)
}

/** A list in the query of an address, which is JSON because names may contain any character. */
export function jsonList(text: string): unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list : undefined
  } catch {
    return undefined
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
