import { useEffect, useState } from 'preact/hooks'
import { isAbort } from './api.ts'
import { useEvent, useRound } from './hooks.ts'

/** The state of a request. `value` is what was loaded last, also while another is loaded and after that has failed. */
export type Resource<T> = ReturnType<typeof useResource<T>>

/** Fetches whenever one of `keys` changes, and after `changed`. It ignores answers to earlier requests. */
export function useResource<T>(fetcher: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]) {
  const [state, setState] = useState<{ loading: boolean; value?: T; error?: unknown }>({ loading: true })
  const [round, again] = useRound()
  useEffect(() => {
    const controller = new AbortController()
    setState(({ error: _, ...before }) => ({ ...before, loading: true }))
    fetcher(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setState({ loading: false, value })
      },
      (error: unknown) => {
        if (controller.signal.aborted || isAbort(error)) return
        setState((before) => ({ ...before, loading: false, error }))
      },
    )
    return () => controller.abort()
    // The caller lists the dependencies of the fetcher.
  }, [...keys, round])
  useEvent('parquetry:changed', again)
  return { ...state, again }
}

/** After a change, all that is shown is fetched again. */
export function changed(): void {
  dispatchEvent(new Event('parquetry:changed'))
}
