import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure, Loading } from './feedback.tsx'

/** Renders a component whose code is loaded when it is first needed. */
export function Lazy<P>(props: {
  readonly load: () => Promise<ComponentType<P>>
  readonly label: string
  /** Whether the component is a whole page rather than a part of one. */
  readonly page?: boolean
  readonly children: (component: ComponentType<P>) => ComponentChildren
}) {
  const [loaded, setLoaded] = useState<{ readonly component: ComponentType<P> }>()
  const [error, setError] = useState<unknown>()
  const [round, setRound] = useState(0)
  useEffect(() => {
    setError(undefined)
    props.load().then((component) => setLoaded({ component }), setError)
  }, [props.load, round])
  if (loaded) return <>{props.children(loaded.component)}</>
  if (error !== undefined) return <Failure error={error} onRetry={() => setRound(round + 1)} />
  return <Loading page={props.page ?? false} label={props.label} lines={6} />
}
