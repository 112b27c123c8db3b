import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Parts } from '../../catalog/parts.ts'
import type { Part } from '../../catalog/records.ts'
import { EngineError } from '../../errors.ts'
import type { Events } from '../../events.ts'
import type { Background } from '../../util/background.ts'
import { type HashOptions, hashFile } from './hash.ts'

/** What is wrong with a part's file, in words that come after "part 7:"; undefined where nothing is. */
type Problem = string | undefined

/** A Parquet file begins and ends with this. */
const MAGIC = 'PAR1'
/** At the end: the length of the footer in four bytes, then the magic. */
const TAIL = 8

/**
 * Whether parts are what was written. At its first reading a part is looked at in passing: its size and its ends. All of
 * its bytes are held against the hash in the catalog by `verify`, by backups and in the background. A part once found
 * damaged gives an error in place of rows, in every process, until it is found whole again.
 */
export class Integrity {
  readonly #parts: Parts
  readonly #events: Events
  readonly #background: Background
  readonly #fileOf: (part: Part) => string
  /** Parts that were looked at since the start. */
  readonly #seen = new Set<number>()
  #damaged: ReadonlyMap<number, string> = new Map()

  constructor(parts: Parts, events: Events, background: Background, fileOf: (part: Part) => string) {
    this.#parts = parts
    this.#background = background
    this.#events = events
    this.#fileOf = fileOf
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
    const file = this.#fileOf(part)
    if (this.#damaged.has(part.id)) throw damaged(part.id)
    if (this.#seen.has(part.id)) return file
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
    if (problem !== undefined) {
      this.#note(part, problem)
      this.#writeLater(part, problem)
      throw damaged(part.id)
    }
    this.#seen.add(part.id)
    return file
  }

  /**
   * Reads all of a part's file and holds it against the catalog; fills in the hash of a part that has none.
   * @throws the system's error where the file can't be read now, which is not written down as damage
   */
  async check(part: Part, options: HashOptions = {}): Promise<Problem> {
    const file = this.#fileOf(part)
    let problem = glance(file, part.bytes)
    // Another check may have filled it in since the part was looked up.
    let hash = part.hash ?? (await this.#parts.hashOf(part.id))
    if (problem === undefined) {
      const found = await hashFile(file, options)
      if (hash !== null && found !== hash) problem = 'its bytes are not those that were written'
      hash ??= found
    }
    this.#note(part, problem)
    await this.#parts.noteCheck(part.id, { hash, damage: problem })
    return problem
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

/**
 * What shows without reading the rows.
 * @throws the system's error where the file is there and can't be read: too many files are open, say, or the disk
 * stutters. That tells nothing of what is written in it.
 */
function glance(file: string, bytes: number): Problem {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'its file is missing'
    throw error
  }
  try {
    const { size } = fstatSync(descriptor)
    if (size !== bytes) return `its file has ${size} bytes; the catalog says ${bytes}`
    const tail = Buffer.alloc(TAIL)
    const head = Buffer.alloc(MAGIC.length)
    if (size < TAIL + MAGIC.length) return 'its file is too short'
    readSync(descriptor, head, 0, MAGIC.length, 0)
    readSync(descriptor, tail, 0, TAIL, size - TAIL)
    const footer = tail.readUInt32LE(0)
    const whole = head.toString('latin1') === MAGIC && tail.toString('latin1', 4) === MAGIC
    return whole && footer <= size - TAIL - MAGIC.length ? undefined : 'its file does not end as Parquet does'
  } finally {
    closeSync(descriptor)
  }
}
