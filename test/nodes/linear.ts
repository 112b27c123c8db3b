import { type Blocks, contradiction, type Write } from '../simulation/history.ts'

/** What a reader found, and when it asked and was answered. */
export interface Read {
  readonly sent: number
  readonly came: number
  readonly shown: Blocks
}

/**
 * Why no single order of the writes explains what all readers found; undefined where one does. An order must hold each
 * acknowledged write once and each other one at most once, must agree with the times at which they began and ended, and
 * each read must show what some moment between its question and its answer has. The dataset is empty before.
 */
export function notLinear(writes: readonly Write[], reads: readonly Read[]): string | undefined {
  const byMoment = reads.toSorted((one, other) => one.came - other.came)
  const known = new Map(writes.map((write) => [write.op, write]))
  const heads = new Heads()
  const longest = new Map<number | undefined, Blocks>()
  for (const { sent, came, shown } of byMoment) {
    const reason = contradiction([], [...known.values()], shown, [sent, came])
    if (reason) return `a read shows ${JSON.stringify(shown)}: ${reason}`
    // Appends come one after the other, so of two reads behind the same replace one continues the other.
    const head = headOf(shown, known)
    const before = longest.get(head) ?? []
    const [shorter, longer] = shown.length < before.length ? [shown, before] : [before, shown]
    const differs = shorter.findIndex(([op], at) => longer[at]![0] !== op)
    if (differs >= 0)
      return `op ${shorter[differs]![0]} and op ${longer[differs]![0]} are each shown before the other`
    longest.set(head, longer)
    const returned = heads.show(head, sent, came)
    if (returned) return returned
    // What was shown once must be there for whoever asks later, also if its writer was never told.
    for (const [op] of shown) {
      const write = known.get(op)!
      known.set(op, { ...write, ended: Math.min(write.ended, came), acknowledged: true })
    }
  }
  return undefined
}

/** The replace that a read shows; undefined where all that it shows was appended. */
function headOf([first]: Blocks, writes: ReadonlyMap<number, Write>): number | undefined {
  return first && writes.get(first[0])?.kind === 'replace' ? first[0] : undefined
}

/** The order in which replaces were shown. */
class Heads {
  /** When each was first and last known to be shown: the answer that came first, the question that was sent last. */
  readonly #known = new Map<number | undefined, { first: number; last: number }>()

  /** @returns why it can't be shown: another one came between */
  show(head: number | undefined, sent: number, came: number): string | undefined {
    const known = this.#known.get(head) ?? { first: came, last: sent }
    const times = { first: Math.min(known.first, came), last: Math.max(known.last, sent) }
    this.#known.set(head, times)
    for (const [other, { first, last }] of this.#known) {
      if (other !== head && times.first < last && first < times.last) {
        return `op ${head} and op ${other} were each shown after the other`
      }
    }
    return undefined
  }
}
