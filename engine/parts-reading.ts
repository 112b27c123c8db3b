import type { Part } from './catalog/records.ts'
import type { EngineError } from './errors.ts'
import { type ReadEstimate, readsLittle } from './plan/parts.ts'
import type { Plan, Slice } from './plan/plan.ts'
import { Reading } from './reading/reading.ts'
import type { RangedParts } from './store/objects/ranges/ranges.ts'
import type { Store } from './store/store.ts'

/** What reading parts takes. */
export interface PartsContext {
  readonly parts: readonly Part[]
  readonly store: Store
  /** Releases the versions that have them. */
  readonly leave: () => void
}

/** A reading of parts as files. */
export class PartsReading extends Reading {
  protected readonly context: PartsContext
  protected readonly held: Disposable[] = []
  protected readonly ranged: RangedParts[] = []

  constructor(plan: Plan, context: PartsContext) {
    super(plan)
    this.context = context
  }

  /** Makes files of these parts readable; those of `ranged` are not, though all bytes of them are compared, too. */
  protected async pin(parts: readonly Part[], signal: AbortSignal | undefined, ranged?: RangedParts) {
    const { integrity } = this.context.store
    const pin = await integrity.pin(ranged ? parts.filter((part) => !ranged.url(part)) : parts, signal)
    if (pin) this.held.push(pin)
    const compared = integrity.whole(parts, signal)
    // The reading may fail first; nobody waits for this then.
    compared?.catch(() => {})
    const attached = parts.filter((part) => part.attached)
    if (attached.length > 0) await compared
    else if (!compared) return
    this.whole = async () => {
      await compared
      // Others may have changed them meanwhile.
      for (const part of attached) integrity.file(part)
    }
  }

  protected override unreadable(error: unknown): EngineError | undefined {
    const { store, parts } = this.context
    return store.integrity.unreadable(parts, error, this.ranged)
  }

  protected override release(): void {
    for (const held of [...this.held, ...this.ranged]) held[Symbol.dispose]()
    this.context.leave()
  }
}

/** A reading of a version's parts, each as a file that is there, or by ranges. */
export class VersionReading extends PartsReading {
  readonly #readsHttp: () => Promise<boolean>

  /** @param readsHttp whether DuckDB can read parts by ranges */
  constructor(plan: Plan, context: PartsContext, readsHttp: () => Promise<boolean>) {
    super(plan, context)
    this.#readsHttp = readsHttp
  }

  override async ready(estimate: ReadEstimate | undefined, signal: AbortSignal | undefined): Promise<Plan> {
    const { scan } = this.plan
    if (scan.kind !== 'slices') return this.plan
    const { files } = this.context.store
    const slices = new Map(scan.slices.map((slice) => [slice.file, slice]))
    const parts = this.context.parts.filter((part) => slices.has(files.file(part)))
    const ranged = estimate && (await this.#readByRanges(parts, slices, estimate, signal))
    if (ranged) this.ranged.push(ranged)
    await this.pin(parts, signal, ranged)
    if (!ranged) return this.plan
    const urls = new Map(parts.map((part) => [files.file(part), ranged.url(part)]))
    const at = scan.slices.map((slice) => ({ ...slice, file: urls.get(slice.file) ?? slice.file }))
    return { ...this.plan, scan: { ...scan, slices: at } }
  }

  /** Begins to read those parts by ranges of which little is read; undefined if there are none. */
  async #readByRanges(
    parts: readonly Part[],
    slices: ReadonlyMap<string, Slice>,
    estimate: ReadEstimate,
    signal: AbortSignal | undefined,
  ): Promise<RangedParts | undefined> {
    const { integrity, files } = this.context.store
    if (!files.ranges || !(await this.#readsHttp())) return undefined
    const small = parts.filter(
      (part) => files.isCached(part) && readsLittle(part, slices.get(files.file(part))!, estimate),
    )
    return integrity.readByRanges(small, signal)
  }
}
