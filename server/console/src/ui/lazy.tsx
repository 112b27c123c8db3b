import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure, Loading } from './feedback.tsx'

/** Draws with a component whose code is fetched when it is first wanted. */
export function Lazy<P>(props: {
  readonly load: () => Promise<ComponentType<P>>
  readonly label: string
  /** It is all of a page, not a part. */
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
