import type { RefObject } from 'preact'
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'

/** Listens to an event of the window as long as the component is there. */
export function useEvent<Name extends keyof WindowEventMap>(
  name: Name | `parquetry:${string}`,
  listener: (event: WindowEventMap[Name]) => void,
): void {
  const latest = useRef(listener)
  latest.current = listener
  // Before the page is painted, because who sees that it takes keys and cells may press and paste them at once. And only
  // once: components may render between two listeners to one event, and one that is added then would not hear of it.
  useLayoutEffect(() => {
    const hear = (event: WindowEventMap[Name]) => latest.current(event)
    addEventListener(name, hear as EventListener)
    return () => removeEventListener(name, hear as EventListener)
  }, [name])
}

/** A number, and a function that increases it, so that the component renders again. */
export function useRound(): readonly [number, () => void] {
  const [round, again] = useReducer((before: number, _: undefined) => before + 1, 0)
  return [round, () => again(undefined)]
}

/** The size of what an element shows, without its scroll bars. */
export function useSize(element: RefObject<HTMLElement | null>) {
  const [size, setSize] = useState({ width: 0, height: 0 })
  useLayoutEffect(() => {
    const { current } = element
    const measure = () => setSize({ width: current!.clientWidth, height: current!.clientHeight })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current!)
    return () => observer.disconnect()
  }, [])
  return size
}
