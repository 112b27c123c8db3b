import { useEffect, useState } from 'preact/hooks'
import { isAbort } from './api.ts'
import { useEvent, useRound } from './use-event.ts'

/** The state of a request. `value` is what was loaded last, also while another is loaded and after that has failed. */
export interface Resource<T> {
  readonly loading: boolean
  readonly value?: T | undefined
  readonly error?: unknown
}

/**
 * Fetches whenever one of `keys` changes, and after `changed`. It ignores answers to earlier requests.
 *
 * @returns the resource, and a function that fetches again
 */
export function useResource<T>(
  fetcher: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
): readonly [Resource<T>, () => void] {
  const [resource, setResource] = useState<Resource<T>>({ loading: true })
  const [round, again] = useRound()
  useEffect(() => {
    const controller = new AbortController()
    setResource(({ value }) => ({ loading: true, value }))
    fetcher(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setResource({ loading: false, value })
      },
      (error: unknown) => {
        if (controller.signal.aborted || isAbort(error)) return
        setResource(({ value }) => ({ loading: false, value, error }))
      },
    )
    return () => controller.abort()
    // The caller lists the dependencies of the fetcher.
  }, [...keys, round])
  useEvent('parquetry:changed', again)
  return [resource, again]
}

/** After a change, all that is shown is fetched again. */
export function changed(): void {
  dispatchEvent(new Event('parquetry:changed'))
}
