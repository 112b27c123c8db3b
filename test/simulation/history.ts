import type { Query } from '../../engine/index.ts'
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
      /** Blocks that a reader found, in order. */
      readonly found?: Blocks
    }
  | { readonly failed: 'open' | 'close'; readonly code: string; readonly message: string }
  | { readonly uncaught: string }

/** Blocks of rows: which op wrote them, how many they are, and the op whose keys they have, if it is another one. */
export type Blocks = readonly (readonly [op: number, rows: number, key?: number])[]

/** The blocks of rows that a query gives. @throws Error wrong rows */
export async function readBlocks(query: Query): Promise<Blocks> {
  const blocks: [op: number, rows: number, key?: number][] = []
  for await (const row of query.rows()) {
    const [op, key, n] = [writerOf(row), Number(row['op']), Number(row['n'])]
    let last = blocks.at(-1)
    if (last?.[0] !== op) blocks.push((last = key === op ? [op, 0] : [op, 0, key]))
    if (n !== last[1]) throw new Error(`wrong rows: row ${n} of op ${op} lies where row ${last[1]} belongs`)
    last[1] += 1
  }
  return blocks
}

/** The op that wrote a row: its text ends with it. */
export function writerOf(row: Record<string, unknown>): number {
  return Number(String(row['text']).split(' ').at(-1))
}

/** A write to one dataset: between `begun` and `ended` it happened whole, or, where it isn't acknowledged, maybe not. */
export interface Write {
  readonly kind: 'append' | 'replace' | 'upsert' | 'restore' | 'remove'
  readonly op: number
  readonly rows: number
  /** What a restore makes visible again. */
  readonly blocks?: Blocks
  /** The op whose keys the rows have that a remove or an upsert removes. */
  readonly of?: number
  /** The op of the same stream that comes before it: it isn't there without this one. */
  readonly after?: number
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
 * What is shown is either the blocks from before, or those of one replace or restore, and behind them those of appends
 * and upserts, without those that were removed: by a remove, or by an upsert that is shown in their place. An
 * acknowledged write that isn't shown must have been replaced or removed: so nothing that is shown may have ended before
 * it began. The same holds for what comes before a shown write in its stream.
 */
export function contradiction(
  before: Blocks,
  writes: readonly Write[],
  shown: Blocks,
  [from, to]: readonly [number, number],
): string | undefined {
  const possible = writes.filter(({ begun }) => begun < to)
  const ops = new Set(shown.map(([op]) => op))
  const removed = new Set(
    possible.filter(({ kind, op }) => kind !== 'upsert' || ops.has(op)).map(({ of }) => of),
  )
  const replaces = possible.filter(({ kind }) => kind === 'replace' || kind === 'restore')
  const heads = [
    { write: undefined, blocks: before },
    ...replaces.map((write) => ({ write, blocks: blocksOf(write) })),
  ]
    .map(({ write, blocks }): Head => {
      return { write, blocks: blocks.filter(([op, , key = op]) => ops.has(op) || !removed.has(key)) }
    })
    .filter(({ blocks }) =>
      blocks.every((block, at) => [0, 1, 2].every((place) => shown[at]?.[place] === block[place])),
    )
  if (heads.length === 0) {
    const all = behind([], shown, possible)
    return typeof all === 'string' ? all : 'the blocks from before are gone and nothing replaced them'
  }
  const reasons = heads.map((head) => {
    const written = behind(head.blocks, shown, possible)
    return typeof written === 'string' ? written : impossible(head, written, possible, removed, from)
  })
  return reasons.includes(undefined) ? undefined : reasons[0]
}

function blocksOf({ op, rows, blocks }: Write): Blocks {
  return blocks ?? (rows === 0 ? [] : [[op, rows]])
}

/** The writes of the blocks that are shown behind the first ones, or why there are none. */
function behind(first: Blocks, shown: Blocks, possible: readonly Write[]): Write[] | string {
  const written: Write[] = []
  for (const [at, [op, rows, key]] of shown.entries()) {
    if (at < first.length) continue
    const write = possible.find((one) => one.op === op && one.kind !== 'restore' && one.kind !== 'remove')
    if (!write || write.of !== key) return `op ${op} wrote nothing that may be shown here`
    const other = write.kind === 'upsert' && shown.slice(0, at).find((block) => keyOf(block) === key)
    if (other) return `op ${op} is shown behind op ${other[0]}, whose place it takes`
    if (write.rows !== rows) return `op ${op} wrote ${write.rows} rows and ${rows} are shown`
    if (written.includes(write) || first.some(([other]) => other === op)) return `op ${op} is shown twice`
    written.push(write)
  }
  return written
}

function keyOf([op, , key = op]: Blocks[number]): number {
  return key
}

/** Why nothing can be shown as it is where the head is what was last put in place of everything. */
function impossible(
  { write: head, blocks }: Head,
  written: readonly Write[],
  all: readonly Write[],
  removed: ReadonlySet<number | undefined>,
  from: number,
): string | undefined {
  const order = head ? [head, ...written] : written
  for (const [at, write] of order.entries()) {
    if (write.kind === 'replace' && write !== head) return `op ${write.op} replaced what is shown before it`
    const later = order.slice(at + 1).find((other) => other.ended < write.begun)
    if (later) return `op ${later.op} had ended before op ${write.op} began, and is shown behind it`
    const [previous, ...earlier] = beforeInStream(write, all)
    if (!previous || order.slice(0, at).includes(previous) || removed.has(previous.op)) continue
    const isReplaced = head && head.ended >= previous.begun
    if (!isReplaced || [previous, ...earlier].some((one) => order.includes(one)))
      return `op ${write.op} is shown without op ${previous.op} before it`
  }
  for (const write of all) {
    if (!write.acknowledged || write.ended >= from) continue
    if (write.of !== undefined) {
      const isFirst = blocks.some((block) => keyOf(block) === write.of && block[0] !== write.op)
      const sources = written.filter((one) => one !== write && (one.of ?? one.op) === write.of)
      const ended = Math.min(
        isFirst ? (head?.ended ?? -Infinity) : Infinity,
        ...sources.map((one) => one.ended),
      )
      if (ended < write.begun) return `op ${write.op} removed the rows of op ${write.of}, which are shown`
    }
    if (write.kind === 'remove' || order.includes(write)) continue
    if (write.kind !== 'replace' && write.kind !== 'restore') {
      if (write.rows === 0 || removed.has(write.of ?? write.op)) continue
    }
    if (!head) return `op ${write.op} was acknowledged and isn't shown`
    const earlier = order.find((other) => other.ended < write.begun)
    if (earlier) return `op ${write.op} was acknowledged after op ${earlier.op} and isn't shown`
  }
  return undefined
}

/** What comes before a write in its stream, the last first. */
function beforeInStream({ after }: Write, all: readonly Write[]): Write[] {
  const previous = after === undefined ? undefined : all.find(({ op }) => op === after)
  return previous ? [previous, ...beforeInStream(previous, all)] : []
}
