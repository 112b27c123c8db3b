import { rmSync } from 'node:fs'
import type { Part } from '../catalog/records.ts'
import type { EngineError } from '../errors.ts'
import type { CompareInput } from '../ingest/index.ts'
import { readParts } from '../ingest/parts/parts.ts'
import type { Plan } from '../plan/plan.ts'
import { Reading } from '../reading/reading.ts'
import type { Store } from '../store/store.ts'
import { TemporaryFile } from '../util/temporary.ts'

/**
 * The rows of changes for which rows had to be compared. A process of their own compares them once, in little memory,
 * and writes them to a file, which is removed with this.
 */
export class Compared implements Disposable {
  readonly #store: Store
  readonly #input: CompareInput
  #writing: Promise<void> | undefined

  constructor(store: Store, input: Omit<CompareInput, 'target'>) {
    this.#store = store
    this.#input = { ...input, target: new TemporaryFile(store.temporary).path }
  }

  /** The file, when it is written. The parts must be readable meanwhile. @throws EngineError `storage_full`, `cancelled` */
  async file(signal: AbortSignal | undefined): Promise<string> {
    this.#writing ??= this.#write(signal).catch((error: unknown) => {
      this.#writing = undefined
      throw error
    })
    await this.#writing
    return this.#input.target
  }

  async #write(signal: AbortSignal | undefined): Promise<void> {
    const { jobs } = await this.#store.ingestor()
    await jobs.compare(this.#input, signal ? { signal } : {})
  }

  /** Never throws, because versions are released next: a file that can't be removed now is removed at a start. */
  [Symbol.dispose](): void {
    try {
      rmSync(this.#input.target, { force: true })
    } catch {}
  }
}

/** Reads the parts in which rows changed. */
export class ChangesReading extends Reading {
  readonly #parts: readonly Part[]
  readonly #store: Store
  readonly #leave: () => void
  readonly #compared: Compared | undefined
  #pinned: Disposable | undefined

  constructor(
    plan: Plan,
    parts: readonly Part[],
    store: Store,
    leave: () => void,
    compared: Compared | undefined,
  ) {
    super(plan)
    this.#compared = compared
    this.#parts = parts
    this.#store = store
    this.#leave = leave
  }

  override async ready(_reach: unknown, signal: AbortSignal | undefined): Promise<Plan> {
    this.#pinned = await this.#store.integrity.pin(this.#parts, signal)
    this.whole = this.#store.integrity.whole(this.#parts, signal)
    // The reading may fail first; nobody waits for this then.
    this.whole?.catch(() => {})
    if (!this.#compared) return this.plan
    const sql = readParts([await this.#compared.file(signal)])
    return { ...this.plan, scan: { kind: 'foreign', sql } }
  }

  protected override unreadable(error: unknown): EngineError | undefined {
    return this.#store.integrity.unreadable(this.#parts, error, [])
  }

  protected override release(): void {
    this.#pinned?.[Symbol.dispose]()
    this.#leave()
  }
}
