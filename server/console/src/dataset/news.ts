import { useEffect, useState } from 'preact/hooks'
import type { Dataset } from '../../../client/index.ts'
import { api } from '../api.ts'
import { useEvent } from '../hooks.ts'

/** How long to wait for further versions before the dataset is looked at again, in milliseconds. */
const MOMENT = 1_000

/**
 * The dataset as it has become since the version that is shown; undefined while it is the same. Nothing is followed in a
 * page that nobody sees, because browsers have few connections for each server.
 */
export function useNews({ id, version }: Dataset, isFollowed: boolean): Dataset | undefined {
  const [newest, setNewest] = useState<Dataset>()
  const [isSeen, setSeen] = useState(document.visibilityState === 'visible')
  // It bubbles to the window.
  useEvent('visibilitychange' as keyof WindowEventMap, () => setSeen(document.visibilityState === 'visible'))
  useEffect(() => {
    if (!isFollowed || !isSeen) return
    const stop = new AbortController()
    // Without it, the page is as it would be: what is wrong shows in other requests.
    follow(id, version, stop.signal, setNewest).catch(() => {})
    return () => stop.abort()
  }, [id, version, isFollowed, isSeen])
  return newest?.id === id && newest.version > version ? newest : undefined
}

/** Follows the versions, without their rows, which would count against the plan. */
async function follow(id: number, since: number, signal: AbortSignal, tell: (newest: Dataset) => void) {
  const { datasets } = api()
  let isAsking = false
  const ask = async () => {
    isAsking = false
    tell(await datasets.get(id, { signal }))
  }
  for await (const _ of datasets.changes(id, since, { follow: true, filter: 'false', signal })) {
    if (isAsking) continue
    isAsking = true
    setTimeout(() => ask().catch(() => {}), MOMENT)
  }
}
