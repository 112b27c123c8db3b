import type { Work } from './script.ts'

/** A line that an actor tells. Times are nanoseconds of a clock that all processes of the machine share. */
export type Told =
  | { readonly id: string; readonly work: Work; readonly begun: number }
  /** A reader has its version. */
  | { readonly id: string; readonly taken: number }
  | {
      readonly id: string
      readonly ended: number
      readonly outcome: string
      readonly message?: string
      /** Blocks that a reader found, in order: which op wrote them, and how many rows they have. */
      readonly found?: readonly (readonly [number, number])[]
    }
  | { readonly failed: 'open' | 'close'; readonly code: string; readonly message: string }
  | { readonly uncaught: string }

export type Blocks = readonly (readonly [number, number])[]

/** A write to one dataset: between `begun` and `ended` it happened whole, or, where it isn't acknowledged, maybe not. */
export interface Write {
  readonly kind: 'append' | 'replace'
  readonly op: number
  readonly rows: number
  readonly begun: number
  /** Infinity where nobody was told: it may happen until all processes have ended. */
  readonly ended: number
  readonly acknowledged: boolean
}

/**
 * Why a dataset can't show these blocks at any moment between two; undefined where it can. Writes may have happened in
 * any order that their times allow: one that had ended before another began comes before it.
 *
 * What is shown is either the blocks from before, or those of one replace, and behind them those of appends. An
 * acknowledged write that isn't shown must have been replaced: so nothing that is shown may have ended before it began.
 */
export function contradiction(
  before: Blocks,
  writes: readonly Write[],
  shown: Blocks,
  [from, to]: readonly [number, number],
): string | undefined {
  const possible = new Map(writes.filter(({ begun }) => begun < to).map((write) => [write.op, write]))
  const kept = before.every(([op, rows], at) => shown[at]?.[0] === op && shown[at][1] === rows)
  const behind = shown.slice(kept ? before.length : 0)
  const written: Write[] = []
  for (const [op, rows] of behind) {
    const write = possible.get(op)
    if (!write) return `op ${op} wrote nothing that may be shown here`
    if (write.rows !== rows) return `op ${op} wrote ${write.rows} rows and ${rows} are shown`
    if (written.includes(write)) return `op ${op} is shown twice`
    written.push(write)
  }
  // A replace without rows is shown by nothing being there before what was appended later.
  const emptied = [...possible.values()].filter(({ kind, rows }) => kind === 'replace' && rows === 0)
  const heads: (Write | undefined)[] =
    written[0]?.kind === 'replace' && !(kept && before.length > 0)
      ? [written[0]]
      : kept
        ? [undefined, ...(before.length === 0 ? emptied : [])]
        : emptied
  if (heads.length === 0) return `the blocks from before are gone and nothing replaced them`
  const reasons = heads.map((head) => impossible(head, written, [...possible.values()], from))
  return reasons.includes(undefined) ? undefined : reasons[0]
}

/** Why nothing can be shown as it is where `head` is the last replace (undefined: none was made). */
function impossible(
  head: Write | undefined,
  written: Write[],
  all: Write[],
  from: number,
): string | undefined {
  const order = head && written[0] !== head ? [head, ...written] : written
  for (const [at, write] of order.entries()) {
    if (write.kind === 'replace' && write !== head) return `op ${write.op} replaced what is shown before it`
    const later = order.slice(at + 1).find((other) => other.ended < write.begun)
    if (later) return `op ${later.op} had ended before op ${write.op} began, and is shown behind it`
  }
  for (const write of all) {
    if (!write.acknowledged || write.ended >= from || order.includes(write)) continue
    if (write.kind === 'append' && write.rows === 0) continue
    if (!head) return `op ${write.op} was acknowledged and isn't shown`
    const earlier = order.find((other) => other.ended < write.begun)
    if (earlier) return `op ${write.op} was acknowledged after op ${earlier.op} and isn't shown`
  }
  return undefined
}
