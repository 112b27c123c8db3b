/**
 * The key of the signed-in account. It is kept in the tab's sessionStorage, and in localStorage only if the user wants
 * it remembered. Tabs tell each other about it, so that a second tab is signed in, and signing out ends all of them.
 */
const SLOT = 'parquetry.key'

const tabs = new BroadcastChannel('parquetry')
let current: string | undefined = sessionStorage.getItem(SLOT) ?? localStorage.getItem(SLOT) ?? undefined

tabs.onmessage = ({ data }: MessageEvent<{ ask?: true; key?: string | null }>) => {
  if (data.ask && current !== undefined) tabs.postMessage({ key: current })
  if (data.key !== undefined) take(data.key ?? undefined)
}
if (current === undefined) tabs.postMessage({ ask: true })

/**
 * Signs this tab in with the key in the address, as `parquetry demo` prints it. A server that is no demo has no such page,
 * so that a link can't change who is signed in; and nobody is signed out without being asked.
 */
export async function signInFromAddress(): Promise<void> {
  const [, key] = /^#key=([\w-]+)$/.exec(location.hash) ?? []
  if (key === undefined) return
  history.replaceState(null, '', '#/')
  const isDemo = await fetch('demo', { method: 'HEAD', credentials: 'omit' }).then(
    ({ ok }) => ok,
    () => false,
  )
  if (!isDemo) return
  const isOther = current !== undefined && current !== key
  if (!isOther || confirm('Sign out here, and sign in with the key in the address?')) take(key)
}

export function sessionKey(): string | undefined {
  return current
}

/** Signs in with a key, or out with undefined, in all tabs. `remember` keeps the key after the browser has closed. */
export function setSessionKey(key: string | undefined, remember = localStorage.getItem(SLOT) !== null): void {
  if (key === undefined || !remember) localStorage.removeItem(SLOT)
  else localStorage.setItem(SLOT, key)
  take(key)
  tabs.postMessage({ key: key ?? null })
}

function take(key: string | undefined): void {
  if (key === current) return
  current = key
  if (key === undefined) sessionStorage.removeItem(SLOT)
  else sessionStorage.setItem(SLOT, key)
  dispatchEvent(new Event('parquetry:key'))
}
