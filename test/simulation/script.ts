/** What happens in a run, all of it from one seed: the same number always gives the same script. */
export interface Script {
  readonly seed: number
  readonly epochs: readonly Epoch[]
}

/** From a start to an end, clean or not, of all processes. */
export interface Epoch {
  readonly actors: readonly Actor[]
}

/** One process on the data directory. */
export interface Actor {
  readonly role: 'server' | 'guest'
  /** Milliseconds by which its clock is wrong, and by which it jumps in the middle. */
  readonly clock: readonly [number, number]
  /** Works of a round are done at the same time; the next round begins when all have ended. */
  readonly rounds: readonly (readonly Work[])[]
  readonly faults: readonly Fault[]
}

export interface Fault {
  /** The call that fails, counted over all calls on the data directory from the process' start. */
  readonly nth: number
  readonly error: 'EIO' | 'ENOSPC' | 'KILL'
  readonly mode: 'once' | 'on'
}

export type Work =
  | { readonly kind: 'append'; readonly dataset: number; readonly op: number; readonly rows: number }
  | { readonly kind: 'replace'; readonly dataset: number; readonly op: number; readonly rows: number }
  /** Writes as many rows as an earlier op, with its keys: they take the place of its rows, if there are any. */
  | {
      readonly kind: 'upsert'
      readonly dataset: number
      readonly op: number
      readonly rows: number
      readonly of: number
    }
  /** Removes the rows with the keys of an earlier op. */
  | { readonly kind: 'remove'; readonly dataset: number; readonly op: number; readonly of: number }
  /** Makes one of the last versions current again. */
  | { readonly kind: 'restore'; readonly dataset: number; readonly op: number; readonly pick: number }
  /** A slow reader takes its version at once and its rows when all others of the round have ended. */
  | { readonly kind: 'read'; readonly dataset: number; readonly slow: boolean }
  /** Reads a past version twice, and what versions up to another one have changed. */
  | { readonly kind: 'past'; readonly dataset: number; readonly pick: number; readonly span: number }
  | { readonly kind: 'verify' }
  | { readonly kind: 'settle' }

export const DATASETS: readonly number[] = [1, 2, 3]
const EPOCHS = 6
const HOUR = 3_600_000

export function scriptOf(seed: number): Script {
  const random = randomOf(seed)
  let op = 0
  const written: Extract<Work, { kind: 'append' | 'replace' }>[] = []
  const write = (kind: 'append' | 'replace', dataset: number): Work => {
    const work = { kind, dataset, op: ++op, rows: random.pick([0, 1, 30, 700, 6_000]) }
    written.push(work)
    return work
  }
  const work = (): Work => {
    const dataset = random.pick(DATASETS)
    const chance = random.below(100)
    if (chance < 30) return write('append', dataset)
    if (chance < 38) {
      const last = written.filter((one) => one.dataset === dataset && one.rows > 0).slice(-4)
      if (last.length > 0) {
        const { op: of, rows } = random.pick(last)
        return { kind: 'upsert', dataset, op: ++op, rows, of }
      }
    }
    if (chance < 46) return { kind: 'remove', dataset, op: ++op, of: Math.max(1, op - random.below(12)) }
    if (chance < 51) return { kind: 'restore', dataset, op: ++op, pick: random.below(4) }
    if (chance < 60) return write('replace', dataset)
    if (chance < 85) return { kind: 'read', dataset, slow: random.below(2) === 0 }
    if (chance < 93) return { kind: 'past', dataset, pick: random.below(10), span: random.below(4) }
    return { kind: chance < 96 ? 'verify' : 'settle' }
  }
  const fault = (): Fault => ({
    // Most faults meet the work, some the start.
    nth: 1 + random.below(random.pick([40, 400, 1_500])),
    error: random.pick(['EIO', 'ENOSPC', 'KILL', 'KILL']),
    mode: random.pick(['once', 'on']),
  })
  const actor = (role: Actor['role']): Actor => ({
    role,
    clock: random.below(3) === 0 ? [random.jump(400 * 24 * HOUR), random.jump(48 * HOUR)] : [0, 0],
    rounds: random.list(2 + random.below(5), () => random.list(1 + random.below(5), work)),
    faults: random.list(random.pick([0, 1, 1, 2]), fault),
  })
  const epochs = random.list(
    EPOCHS,
    (): Epoch => ({
      actors: random.below(3) === 0 ? [actor('server'), actor('guest')] : [actor('server')],
    }),
  )
  return { seed, epochs }
}

/** A generator of numbers from a seed: mulberry32. Good enough to choose by, and a few lines. */
function randomOf(seed: number) {
  let state = seed >>> 0
  const below = (bound: number) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
  return {
    /** From 0 to `bound - 1`. */
    below,
    pick: <const T>(from: readonly T[]): T => from[below(from.length)]!,
    list: <T>(length: number, make: () => T): T[] => Array.from({ length }, make),
    /** Forwards or back by at most so many milliseconds. */
    jump: (most: number) => below(most) * (below(2) === 0 ? 1 : -1),
  }
}
