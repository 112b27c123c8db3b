/**
 * The key of the signed-in account. It is kept only in the tab's sessionStorage, so every tab asks for it, and closing
 * the tab removes it.
 */
const SLOT = 'parquetry.key'

type Listener = (key: string | undefined) => void
const listeners = new Set<Listener>()
let current: string | undefined = sessionStorage.getItem(SLOT) ?? undefined

export function sessionKey(): string | undefined {
  return current
}

/** Signs in with a key, or out with undefined. */
export function setSessionKey(key: string | undefined): void {
  current = key
  if (key === undefined) sessionStorage.removeItem(SLOT)
  else sessionStorage.setItem(SLOT, key)
  for (const listener of listeners) listener(key)
}

/** Calls the listener on every change. Returns a function that unsubscribes. */
export function onSessionKey(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
