import type { Part, Version } from '../catalog/records.ts'
import { EngineError } from '../errors.ts'
import { runtimeFilterError } from '../filter/index.ts'
import { type ReadEstimate, readsLittle } from '../plan/parts.ts'
import type { Plan, Slice } from '../plan/plan.ts'
import type { RangedParts } from '../store/objects/ranges/ranges.ts'
import type { Store } from '../store/store.ts'
import { Users } from '../util/shared.ts'

/**
 * What a query holds while it reads rows. Dispose it when they have been read. This class is for rows that are always
 * there; others extend it.
 */
export class Reading implements Disposable {
  readonly plan: Plan
  /** Settles when all that is read was compared with what was written, which no answer may precede. */
  whole: Promise<void> | undefined
  readonly #users = new Users(() => this.release())

  constructor(plan: Plan) {
    this.plan = plan
  }

  /**
   * Makes everything readable that DuckDB reads for the plan. Gives the plan with the names under which DuckDB finds it.
   * @param estimate what is read of the parts, if they need not be there as files
   * @throws EngineError `storage_damaged`, `storage_unavailable`, `storage_full`, `cancelled`
   */
  async ready(_estimate: ReadEstimate | undefined, _signal: AbortSignal | undefined): Promise<Plan> {
    return this.plan
  }

  /** The error as users see it: a value of the data can make a correct query fail. */
  explain(error: unknown): unknown {
    if (error instanceof EngineError) return error
    const { fallible } = this.plan
    const values = fallible === undefined ? undefined : runtimeFilterError(error, fallible)
    return values ?? this.unreadable(error) ?? error
  }

  /** Turns an error of DuckDB about stored rows into one of ours; undefined for all other errors. */
  protected unreadable(_error: unknown): EngineError | undefined {
    return undefined
  }

  /** Keeps everything readable until the returned function is called, even if the reading is disposed before. */
  hold(): () => void {
    return this.#users.enter()
  }

  readonly [Symbol.dispose] = this.#users.enter()

  protected release(): void {}
}

/** What reading a version takes. */
export interface VersionPlace {
  readonly version: Version
  readonly store: Store
  /** Whether DuckDB can read parts by ranges. */
  readonly readsHttp: () => Promise<boolean>
  /** Releases the version. */
  readonly leave: () => void
}

/** A reading of a version's parts, each as a file that is there, or by ranges. */
export class VersionReading extends Reading {
  readonly #place: VersionPlace
  readonly #held: Disposable[] = []
  readonly #ranged: RangedParts[] = []

  constructor(plan: Plan, place: VersionPlace) {
    super(plan)
    this.#place = place
  }

  override async ready(estimate: ReadEstimate | undefined, signal: AbortSignal | undefined): Promise<Plan> {
    const { scan } = this.plan
    if (scan.kind !== 'slices') return this.plan
    const { store, version } = this.#place
    const slices = new Map(scan.slices.map((slice) => [slice.file, slice]))
    const parts = version.parts.filter((part) => slices.has(store.files.file(part)))
    const ranged = estimate && (await this.#readByRanges(parts, slices, estimate, signal))
    if (ranged) this.#ranged.push(ranged)
    const pin = await store.integrity.pin(ranged ? parts.filter((part) => !ranged.url(part)) : parts, signal)
    if (pin) this.#held.push(pin)
    this.whole = store.integrity.whole(parts, signal)
    // The reading may fail first; nobody waits for this then.
    this.whole?.catch(() => {})
    if (!ranged) return this.plan
    const urls = new Map(parts.map((part) => [store.files.file(part), ranged.url(part)]))
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
    const { store, readsHttp } = this.#place
    if (!store.files.ranges || !(await readsHttp())) return undefined
    const small = parts.filter((part) => readsLittle(part, slices.get(store.files.file(part))!, estimate))
    return store.integrity.readByRanges(small, signal)
  }

  protected override unreadable(error: unknown): EngineError | undefined {
    const { store, version } = this.#place
    return store.integrity.unreadable(version.parts, error, this.#ranged)
  }

  protected override release(): void {
    for (const held of [...this.#held, ...this.#ranged]) held[Symbol.dispose]()
    this.#place.leave()
  }
}
