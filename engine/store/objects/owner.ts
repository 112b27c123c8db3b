import { EngineError } from '../../errors.ts'
import type { S3Address } from './address.ts'
import type { ObjectBody, PutOptions } from './object-store.ts'
import { S3Store } from './s3.ts'

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
export async function readStamp(objects: S3Store): Promise<(Stamp & { readonly tag: string }) | undefined> {
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
  objects: S3Store,
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
 * primary, would otherwise remove the parts that its original still shows. The stamp itself is written to become the owner.
 */
export class OwnedStore extends S3Store {
  readonly #ownership: Ownership
  #last: { readonly at: number; readonly check: Promise<void> } | undefined

  constructor(address: S3Address, ownership: Ownership) {
    super(address)
    this.#ownership = ownership
  }

  override async put(key: string, body: ObjectBody, options?: PutOptions): Promise<'stored' | 'there'> {
    if (key !== KEY) await this.answers(WRITE_MS)
    try {
      return await super.put(key, body, options)
    } catch (error) {
      // That the store answered a moment ago means nothing any more.
      this.#last = undefined
      throw error
    }
  }

  override async remove(key: string): Promise<void> {
    await this.#check()
    return super.remove(key)
  }

  override async endUploads(prefix: string, before: Date): Promise<number> {
    await this.#check()
    return super.endUploads(prefix, before)
  }

  /** @throws EngineError `writes_stopped` */
  override answers(oldest: number): Promise<void> {
    if (!this.#last || performance.now() - this.#last.at >= oldest) {
      const check = this.#check()
      this.#last = { at: performance.now(), check }
      // A check that failed says nothing about the owner, so the next caller makes another one.
      check.catch(() => (this.#last = undefined))
    }
    return this.#last.check
  }

  async #check(): Promise<void> {
    const found = await readStamp(this)
    const own = await this.#ownership.own()
    const { identity, onLost } = this.#ownership
    if (own && isOwner(found, { ...own, database: identity })) {
      this.isLost = false
      return
    }
    const error = new EngineError(
      'writes_stopped',
      `${this.name} now belongs to another catalog${found ? ` (${describe(found)})` : ''}. This one changes nothing ` +
        'there any more; reads go on.',
    )
    if (!this.isLost) onLost(error)
    this.isLost = true
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
