/**
 * The key of whoever is signed in. It lives in the tab's sessionStorage and nowhere else: another tab asks again, and
 * closing the tab forgets it.
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

/** Calls back on every change; returns how to stop. */
export function onSessionKey(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
