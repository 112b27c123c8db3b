import { EngineError } from '../../errors.ts'
import type { ObjectBody, ObjectStore, PutOptions, RequestStats, StoredObject } from './object-store.ts'

/** The key of an object next to the parts, which says to which catalog they belong. */
const KEY = 'catalog'
const SHAPE = /^(\S{36})(?: (\S+) (\d+))?$/

/** How old the last check may be before a write. There is one before each removal. */
const WRITE_MS = 5_000

/**
 * What the object `catalog` contains: the mark of a catalog, which all copies of the catalog have in common, and which of
 * them owns the store.
 */
export interface Stamp {
  readonly mark: string
  /** The identity of the owner's database; undefined if none has claimed the store. */
  readonly database: string | undefined
  /** How often the store was taken over. A promoted replica has its primary's identity, but not its later epochs. */
  readonly epoch: number
}

/** @param tag the version of the object, on which a replacement can depend */
export async function readStamp(
  objects: ObjectStore,
): Promise<(Stamp & { readonly tag: string }) | undefined> {
  const found = await objects.read(KEY)
  if (!found) return undefined
  const [, mark = '', database, epoch = '0'] = SHAPE.exec(Buffer.from(found.data).toString()) ?? []
  return { mark, database, epoch: Number(epoch), tag: found.tag }
}

/**
 * Writes a stamp into a store that has none, or in place of the one that was read. Gives whether it is there now: a store
 * without conditions may have taken that of somebody else meanwhile.
 */
export async function putStamp(
  objects: ObjectStore,
  { mark, database, epoch }: Stamp,
  replaces?: { readonly tag: string },
): Promise<boolean> {
  const text = database === undefined ? mark : `${mark} ${database} ${epoch}`
  await objects.put(
    KEY,
    { data: Buffer.from(text) },
    replaces ? { replaces: replaces.tag } : { onlyNew: true },
  )
  const found = await readStamp(objects)
  return found?.mark === mark && found.database === database && found.epoch === epoch
}

/** What a catalog expects to find in the store that it owns. */
export interface Ownership {
  readonly identity: string | undefined
  /** Reads it from the catalog. Another node may have raised the epoch. */
  readonly own: () => Promise<{ readonly mark: string; readonly epoch: number } | undefined>
  /** Called when the store turns out to belong to another catalog, once until it is ours again. */
  readonly onLost: (error: EngineError) => void
}

/**
 * A store of objects in which only its owner writes and removes. A copy of a catalog, as a restored dump or a former
 * primary, would otherwise remove the parts that its original still shows.
 */
export class OwnedStore implements ObjectStore {
  readonly name: string
  readonly #objects: ObjectStore
  readonly #ownership: Ownership
  #last: { readonly at: number; readonly check: Promise<void> } | undefined
  #isLost = false

  constructor(objects: ObjectStore, ownership: Ownership) {
    this.name = objects.name
    this.#objects = objects
    this.#ownership = ownership
  }

  get isLost(): boolean {
    return this.#isLost
  }

  get requests(): RequestStats {
    return this.#objects.requests
  }

  async put(key: string, body: ObjectBody, options?: PutOptions): Promise<'stored' | 'there'> {
    await this.#requireOwner(WRITE_MS)
    try {
      return await this.#objects.put(key, body, options)
    } catch (error) {
      // That the store answered a moment ago means nothing any more.
      this.#last = undefined
      throw error
    }
  }

  async remove(key: string): Promise<void> {
    await this.#check()
    return this.#objects.remove(key)
  }

  async endUploads(prefix: string, before: Date): Promise<number> {
    await this.#check()
    return this.#objects.endUploads(prefix, before)
  }

  answers(oldest: number): Promise<void> {
    return this.#requireOwner(oldest)
  }

  get(key: string, from: number, to: number, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#objects.get(key, from, to, signal)
  }

  read(key: string) {
    return this.#objects.read(key)
  }

  head(key: string, signal?: AbortSignal) {
    return this.#objects.head(key, signal)
  }

  list(prefix: string, signal?: AbortSignal): AsyncGenerator<StoredObject, void, undefined> {
    return this.#objects.list(prefix, signal)
  }

  close(): void {
    this.#objects.close()
  }

  /** @throws EngineError `writes_stopped` */
  #requireOwner(oldest: number): Promise<void> {
    if (!this.#last || performance.now() - this.#last.at >= oldest) {
      const check = this.#check()
      this.#last = { at: performance.now(), check }
      // A check that failed says nothing about the owner, so the next caller makes another one.
      check.catch(() => (this.#last = undefined))
    }
    return this.#last.check
  }

  async #check(): Promise<void> {
    const found = await readStamp(this.#objects)
    const own = await this.#ownership.own()
    const { identity, onLost } = this.#ownership
    if (own && isOwner(found, { ...own, database: identity })) {
      this.#isLost = false
      return
    }
    const error = new EngineError(
      'writes_stopped',
      `${this.name} now belongs to another catalog${found ? ` (${describe(found)})` : ''}. This one changes nothing ` +
        'there any more; reads go on.',
    )
    if (!this.#isLost) onLost(error)
    this.#isLost = true
    throw error
  }
}

export function isOwner(found: Stamp | undefined, own: Stamp): boolean {
  if (found?.mark !== own.mark || found.database !== own.database) return false
  return own.database === undefined || found.epoch === own.epoch
}

export function describe({ database, epoch }: Stamp): string {
  return `database ${database ?? 'of a data directory'}, epoch ${epoch}`
}
