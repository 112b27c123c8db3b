import type { Parts } from '../../catalog/parts.ts'
import type { Part } from '../../catalog/records.ts'
import { EngineError } from '../../errors.ts'
import type { Events } from '../../events.ts'
import type { Background } from '../../util/background.ts'
import { DamagedPart, type PartStore } from '../objects/part-store.ts'
import { glance, type Problem } from './glance.ts'
import type { HashOptions } from './hash.ts'

/**
 * Whether parts are what was written. At its first reading a part is looked at in passing: its size and its ends. All of
 * its bytes are held against the hash in the catalog by `verify`, by backups and in the background. A part once found
 * damaged gives an error in place of rows, in every process, until it is found whole again.
 */
export class Integrity {
  readonly #parts: Parts
  readonly #events: Events
  readonly #background: Background
  readonly #files: PartStore
  /** Parts that were looked at since the start. */
  readonly #seen = new Set<number>()
  #damaged: ReadonlyMap<number, string> = new Map()

  constructor(parts: Parts, events: Events, background: Background, files: PartStore) {
    this.#parts = parts
    this.#background = background
    this.#events = events
    this.#files = files
  }

  /** Parts known to be damaged. */
  get damaged(): number {
    return this.#damaged.size
  }

  /** Learns what was found before, and what other processes find. */
  async refresh(): Promise<void> {
    this.#damaged = await this.#parts.damaged()
  }

  /** The file of a part that is about to be read. @throws EngineError `storage_damaged` */
  file(part: Part): string {
    const file = this.#files.file(part)
    if (this.#damaged.has(part.id)) throw damaged(part.id)
    // A cache has looked at what it fetched.
    if (this.#files.cache || this.#seen.has(part.id)) return file
    let problem: Problem
    try {
      problem = glance(file, part.bytes)
    } catch (cause) {
      throw new EngineError(
        'storage_damaged',
        `Part ${part.id} of the stored rows can't be read at the moment, so none of them are given. Try again later.`,
        { cause, details: { part: part.id } },
      )
    }
    if (problem !== undefined) throw this.#found(part, problem)
    this.#seen.add(part.id)
    return file
  }

  /**
   * Makes parts readable under `file`; undefined where they are so anyway. Dispose it when they have been read.
   * @throws EngineError `storage_damaged`, `storage_unavailable`, `storage_full`
   */
  pin(parts: readonly Part[], signal?: AbortSignal): Promise<Disposable> | undefined {
    return this.#files.pin(parts, signal)?.catch((error: unknown) => {
      const part = error instanceof DamagedPart && parts.find(({ id }) => id === error.part)
      throw part ? this.#found(part, error.problem) : error
    })
  }

  /** Bytes of a part, without making all of it readable. @throws as `pin` does */
  async *read(part: Part, from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    this.file(part)
    try {
      yield* this.#files.read(part, from, to)
    } catch (error) {
      throw error instanceof DamagedPart ? this.#found(part, error.problem) : error
    }
  }

  /**
   * Reads all of a part's file and holds it against the catalog; fills in the hash of a part that has none.
   * @throws the system's error where the file can't be read now, which is not written down as damage
   */
  async check(part: Part, options: HashOptions = {}): Promise<Problem> {
    // Another check may have filled it in since the part was looked up.
    let hash = part.hash ?? (await this.#parts.hashOf(part.id))
    let problem: Problem
    try {
      const found = await this.#files.hash({ ...part, hash }, options)
      if (hash !== null && found !== hash) problem = 'its bytes are not those that were written'
      hash ??= found
    } catch (error) {
      if (!(error instanceof DamagedPart)) throw error
      problem = error.problem
    }
    this.#note(part, problem)
    await this.#parts.noteCheck(part.id, { hash, damage: problem })
    return problem
  }

  /** Takes damage down that showed in passing, and gives what its reader is told. */
  #found(part: Part, problem: string): EngineError {
    this.#note(part, problem)
    this.#writeLater(part, problem)
    return damaged(part.id)
  }

  /** Nobody who reads waits until it is written down what was found in passing. */
  #writeLater({ id, hash }: Part, problem: Problem): void {
    this.#background.later(
      () => this.#parts.noteCheck(id, { hash, damage: problem }),
      (cause) =>
        this.#events.tell('check_failed', `It could not be written down that part ${id} is damaged.`, {
          part: id,
          cause,
        }),
    )
  }

  #note(part: Part, problem: Problem): void {
    const before = this.#damaged.get(part.id)
    if (problem !== undefined && before === undefined) {
      this.#events.tell(
        'part_damaged',
        `Part ${part.id} is damaged: ${problem}. Restore its file from a backup.`,
        {
          part: part.id,
        },
      )
    }
    if (problem === undefined && before !== undefined) {
      this.#events.tell('part_repaired', `Part ${part.id} is whole again.`, { part: part.id })
    }
    const known = new Map(this.#damaged)
    if (problem === undefined) known.delete(part.id)
    else known.set(part.id, problem)
    this.#damaged = known
    this.#seen.delete(part.id)
  }
}

function damaged(part: number): EngineError {
  return new EngineError(
    'storage_damaged',
    `Part ${part} of the stored rows is damaged, so none of them are given. The operator can restore it from a backup.`,
    { details: { part } },
  )
}
