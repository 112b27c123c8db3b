import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isStatus } from '../api.ts'
import { useEvent, useRound } from '../hooks.ts'
import { Failure, Loading } from './feedback.tsx'

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
        if (!controller.signal.aborted) setState((before) => ({ ...before, loading: false, error }))
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

/** What a request has brought. Until then placeholder lines; if it failed, the error and a button that tries again. */
export function Loaded<T>(props: {
  readonly of: Resource<T>
  readonly label: string
  readonly lines?: number
  /** Whether it fills the whole page. */
  readonly page?: boolean
  /** Shown in place of errors that mean that there is nothing, or nothing for this account. */
  readonly missing?: (status: number) => ComponentChildren
  /** Shown in place of any error. */
  readonly failed?: (error: unknown, again: () => void) => ComponentChildren
  readonly children: (value: T) => ComponentChildren
}) {
  const { value, error, again } = props.of
  if (value !== undefined) return <>{props.children(value)}</>
  if (error === undefined) {
    return <Loading page={props.page ?? false} label={props.label} lines={props.lines ?? 6} />
  }
  if (props.failed) return <>{props.failed(error, again)}</>
  if (props.missing && isStatus(error, 403, 404)) return <>{props.missing(error.status)}</>
  return <Failure error={error} onRetry={again} />
}

/** A component whose code is loaded when it is first needed. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>, page = false) {
  const loaded = () =>
    load().catch((cause) => {
      throw new Error('This page can not be loaded. Reload the window: the server may have been updated.', {
        cause,
      })
    })
  return (props: P) => (
    <Loaded of={useResource(loaded, [])} page={page} label="Loading">
      {(Component) => <Component {...props} />}
    </Loaded>
  )
}

/** A value that follows another once that has been at rest for a moment, for requests while the user types. */
export function useRested<T>(value: T, milliseconds = 300): T {
  const [rested, setRested] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), milliseconds)
    return () => clearTimeout(timer)
  }, [value])
  return rested
}
