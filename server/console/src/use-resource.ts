import { useCallback, useEffect, useState } from 'preact/hooks'
import { isAbort } from './api.ts'

/** The state of a request. `stale` is the last value that was loaded. */
export type Resource<T> =
  | { readonly state: 'loading'; readonly stale: T | undefined }
  | { readonly state: 'ready'; readonly value: T }
  | { readonly state: 'failed'; readonly error: unknown; readonly stale: T | undefined }

/**
 * Fetches whenever one of `keys` changes, and after `changed`. It ignores answers to earlier requests.
 *
 * @returns the resource, and a function that fetches again
 */
export function useResource<T>(
  fetcher: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
): readonly [Resource<T>, () => void] {
  const [resource, setResource] = useState<Resource<T>>({ state: 'loading', stale: undefined })
  const [round, setRound] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    setResource((before) => ({ state: 'loading', stale: latest(before) }))
    fetcher(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setResource({ state: 'ready', value })
      },
      (error: unknown) => {
        if (controller.signal.aborted || isAbort(error)) return
        setResource((before) => ({ state: 'failed', error, stale: latest(before) }))
      },
    )
    return () => controller.abort()
    // The caller lists the dependencies of the fetcher.
  }, [...keys, round])
  const again = useCallback(() => setRound((before) => before + 1), [])
  useEffect(() => {
    addEventListener('parquetry:changed', again)
    return () => removeEventListener('parquetry:changed', again)
  }, [])
  return [resource, again]
}

/** After a change, all that is shown is fetched again. */
export function changed(): void {
  dispatchEvent(new Event('parquetry:changed'))
}

/** The current value, or the last one if there is none. */
export function latest<T>(resource: Resource<T>): T | undefined {
  return resource.state === 'ready' ? resource.value : resource.stale
}
