import { useMemo, useRef } from 'preact/hooks'
import type { Profile } from './use-profile.ts'

/**
 * Frequent values of each column, for completion. They are remembered when the filter changes, because a filter hides
 * the other values that the user may want instead.
 */
export function useSeenValues(profile: Profile): (column: string) => readonly string[] {
  const seen = useRef(new Map<string, Set<string>>())
  return useMemo(() => {
    const stats = profile.state === 'ready' ? profile.stats : undefined
    for (const [column, { shape }] of stats ?? []) {
      if (shape.kind !== 'values') continue
      const known = seen.current.get(column) ?? new Set()
      for (const { value } of shape.values) known.add(value)
      seen.current.set(column, known)
    }
    return (column) => [...(seen.current.get(column) ?? [])]
  }, [profile])
}
