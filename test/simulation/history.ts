import type { Work } from './script.ts'

/** A line that an actor tells. Times are nanoseconds of a clock that all processes of the machine share. */
export type Told =
  | { readonly id: string; readonly work: Work; readonly begun: number }
  /** A reader has its version. */
  | { readonly id: string; readonly taken: number }
  /** What the version holds that is about to be restored. */
  | { readonly id: string; readonly restored: Blocks }
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
  readonly kind: 'append' | 'replace' | 'restore' | 'remove'
  readonly op: number
  readonly rows: number
  /** What a restore makes visible again. */
  readonly blocks?: Blocks
  /** The op whose rows a remove removes. */
  readonly of?: number
  readonly begun: number
  /** Infinity where nobody was told: it may happen until all processes have ended. */
  readonly ended: number
  readonly acknowledged: boolean
}

/** What may be shown first, before the blocks of appends: the blocks from before, of a replace or of a restore. */
interface Head {
  readonly write: Write | undefined
  readonly blocks: Blocks
}

/**
 * Why a dataset can't show these blocks at any moment between two; undefined where it can. Writes may have happened in
 * any order that their times allow: one that had ended before another began comes before it.
 *
 * What is shown is either the blocks from before, or those of one replace or restore, and behind them those of appends,
 * without those that were removed. An acknowledged write that isn't shown must have been replaced or removed: so nothing
 * that is shown may have ended before it began.
 */
export function contradiction(
  before: Blocks,
  writes: readonly Write[],
  shown: Blocks,
  [from, to]: readonly [number, number],
): string | undefined {
  const possible = writes.filter(({ begun }) => begun < to)
  const removed = new Set(possible.map(({ of }) => of))
  const ops = new Set(shown.map(([op]) => op))
  const replaces = possible.filter(({ kind }) => kind === 'replace' || kind === 'restore')
  const heads = [
    { write: undefined, blocks: before },
    ...replaces.map((write) => ({ write, blocks: blocksOf(write) })),
  ]
    .map(({ write, blocks }): Head => {
      return { write, blocks: blocks.filter(([op]) => ops.has(op) || !removed.has(op)) }
    })
    .filter(({ blocks }) => blocks.every(([op, rows], at) => shown[at]?.[0] === op && shown[at][1] === rows))
  if (heads.length === 0) {
    const all = behind([], shown, possible)
    return typeof all === 'string' ? all : 'the blocks from before are gone and nothing replaced them'
  }
  const reasons = heads.map((head) => {
    const written = behind(head.blocks, shown, possible)
    return typeof written === 'string' ? written : impossible(head, written, possible, from)
  })
  return reasons.includes(undefined) ? undefined : reasons[0]
}

function blocksOf({ op, rows, blocks }: Write): Blocks {
  return blocks ?? (rows === 0 ? [] : [[op, rows]])
}

/** The writes of the blocks that are shown behind the first ones, or why there are none. */
function behind(first: Blocks, shown: Blocks, possible: readonly Write[]): Write[] | string {
  const written: Write[] = []
  for (const [op, rows] of shown.slice(first.length)) {
    const write = possible.find((one) => one.op === op && (one.kind === 'append' || one.kind === 'replace'))
    if (!write) return `op ${op} wrote nothing that may be shown here`
    if (write.rows !== rows) return `op ${op} wrote ${write.rows} rows and ${rows} are shown`
    if (written.includes(write) || first.some(([other]) => other === op)) return `op ${op} is shown twice`
    written.push(write)
  }
  return written
}

/** Why nothing can be shown as it is where the head is what was last put in place of everything. */
function impossible(
  { write: head, blocks }: Head,
  written: readonly Write[],
  all: readonly Write[],
  from: number,
): string | undefined {
  const order = head ? [head, ...written] : written
  for (const [at, write] of order.entries()) {
    if (write.kind === 'replace' && write !== head) return `op ${write.op} replaced what is shown before it`
    const later = order.slice(at + 1).find((other) => other.ended < write.begun)
    if (later) return `op ${later.op} had ended before op ${write.op} began, and is shown behind it`
  }
  for (const write of all) {
    if (!write.acknowledged || write.ended >= from || order.includes(write)) continue
    if (write.kind === 'remove') {
      const isFirst = blocks.some(([op]) => op === write.of)
      const source = written.find(({ op }) => op === write.of)
      const ended = source ? source.ended : isFirst ? (head?.ended ?? -Infinity) : Infinity
      if (ended < write.begun) return `op ${write.op} removed op ${write.of}, which is shown`
      continue
    }
    if (write.kind === 'append' && (write.rows === 0 || all.some(({ of }) => of === write.op))) continue
    if (!head) return `op ${write.op} was acknowledged and isn't shown`
    const earlier = order.find((other) => other.ended < write.begun)
    if (earlier) return `op ${write.op} was acknowledged after op ${earlier.op} and isn't shown`
  }
  return undefined
}
