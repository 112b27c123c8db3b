import { useEffect, useState } from 'preact/hooks'
import { isAbort } from './api.ts'
import { useEvent, useRound } from './use-event.ts'

interface State<T> {
  readonly loading: boolean
  /** What was loaded last, also while another is loaded and after that has failed. */
  readonly value?: T | undefined
  readonly error?: unknown
}

export interface Resource<T> extends State<T> {
  /** Fetches again. */
  readonly again: () => void
}

/** Fetches whenever one of `keys` changes, and after `changed`. It ignores answers to earlier requests. */
export function useResource<T>(
  fetcher: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
): Resource<T> {
  const [state, setState] = useState<State<T>>({ loading: true })
  const [round, again] = useRound()
  useEffect(() => {
    const controller = new AbortController()
    setState(({ value }) => ({ loading: true, value }))
    fetcher(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setState({ loading: false, value })
      },
      (error: unknown) => {
        if (controller.signal.aborted || isAbort(error)) return
        setState(({ value }) => ({ loading: false, value, error }))
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
