import { useEffect, useRef, useState } from 'preact/hooks'
import type { Dataset } from '../../../client/index.ts'
import { isAbort } from '../api.ts'
import { fetchSample, isWhole, profileOf } from '../profile/sample.ts'
import type { ColumnStats } from '../profile/stats.ts'

export type Profile =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: unknown }
  | {
      readonly state: 'ready'
      readonly stats: ReadonlyMap<string, ColumnStats>
      readonly rows: number
      /** Whether these are all matching rows. */
      readonly whole: boolean
    }

const CELLS = 12_000

/**
 * Profiles all columns from a sample of the matching rows. The sample is small, because its rows count towards the
 * monthly quota.
 */
export function useProfile(dataset: Dataset, filter: string, ready: boolean): Profile {
  const [profile, setProfile] = useState<Profile>({ state: 'loading' })
  const { id, version } = dataset
  const subject = `${id} ${version} ${filter}`
  const fetched = useRef('')
  useEffect(() => {
    // Hiding or sorting columns doesn't change the rows, so the sample stays valid.
    if (!ready || fetched.current === subject) return
    const controller = new AbortController()
    setProfile({ state: 'loading' })
    const size = Math.max(80, Math.min(2_000, Math.floor(CELLS / Math.max(dataset.columns.length, 1))))
    fetchSample(id, { filter, size }, controller.signal).then(
      (sample) => {
        fetched.current = subject
        setProfile({
          state: 'ready',
          stats: profileOf(dataset, sample),
          rows: sample.rows.length,
          whole: isWhole(sample),
        })
      },
      (error: unknown) => {
        if (!isAbort(error)) setProfile({ state: 'failed', error })
      },
    )
    return () => controller.abort()
  }, [subject, ready])
  return profile
}
