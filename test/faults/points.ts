import type { Call, Rule } from './shim.ts'

/** One way in which the disk fails: at which call, with which error, for how long, and whether the process dies of it. */
export interface Point {
  /** Begins with a store of version 0.1.0, so that its migration is among the calls. */
  readonly old: boolean
  /** The call that fails, counted from 1 over all calls. */
  readonly nth: number
  readonly error: 'EIO' | 'ENOSPC' | 'KILL'
  readonly mode: 'once' | 'on'
  /** How many calls later the process is killed; it ends by itself where this is left out. */
  readonly kill?: number
}

const CALLS: readonly Call[] = [
  'write',
  'pwrite',
  'fsync',
  'fdatasync',
  'rename',
  'unlink',
  'open',
  'ftruncate',
  'mmap',
]

/** A kill comes so many calls after the fault: at once, while it is told of, and some time afterwards. */
const KILLS = [1, 5, 25] as const

/** All points, given how many calls a run makes without faults. Evenly spaced ones are of all kinds. */
export function pointsOf(old: number, current: number): Point[] {
  const places = [
    // Only the start differs between the two, and the migration is in it.
    ...Array.from({ length: Math.max(0, old - current) + 60 }, (_, n) => ({ old: true, nth: n + 1 })),
    ...Array.from({ length: current }, (_, n) => ({ old: false, nth: n + 1 })),
  ]
  return places.flatMap((place, index) => [
    ...(['EIO', 'ENOSPC'] as const).flatMap((error) =>
      (['once', 'on'] as const).flatMap((mode): Point[] => [
        { ...place, error, mode },
        { ...place, error, mode, kill: KILLS[index % KILLS.length]! },
      ]),
    ),
    { ...place, error: 'KILL', mode: 'once' } as const,
  ])
}

/** The rules of the shim for a point, for the files below a folder. */
export function rulesOf({ nth, error, mode, kill }: Point, folder: string): Rule[] {
  const path = `${folder}/*`
  const rules: Rule[] = [{ calls: CALLS, nth, error, mode, path }]
  // First, so that it counts every call: a rule that comes after one that fails doesn't see the call.
  if (kill !== undefined) rules.unshift({ calls: CALLS, nth: nth + kill, error: 'KILL', mode: 'once', path })
  return rules
}
