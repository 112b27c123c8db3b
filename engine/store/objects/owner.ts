import { randomUUID } from 'node:crypto'
import type { Database, Handle } from '../../catalog/database.ts'
import { EngineError, invalidOption } from '../../errors.ts'
import type { S3Address } from './address.ts'
import { type Condition, type ObjectBody, ONLY_NEW, S3Store } from './s3.ts'

/** The ids of the two rows of the table: where the parts are, and where they are being moved. */
const HERE = 1
const TARGET = 2

/** The key of an object next to the parts, which says to which catalog they belong. */
const KEY = 'catalog'
const SHAPE = /^(\S{36})(?: (\S+) (\d+))?$/

/** How old the last check may be before a write. There is one before each removal. */
const WRITE_MS = 5_000

/** The store of objects that holds a catalog's parts. */
export interface OwnStore {
  readonly name: string
  /** The random text that is kept in the catalog and in the store, to show that they belong together. */
  readonly mark: string
  /** How often the store was taken over when this catalog last owned it. */
  readonly epoch: number
}

interface ClaimOptions {
  /** Make this catalog the owner of the store, even if another copy of it is. */
  readonly takeOver?: boolean | undefined
  /** Go on if another copy of the catalog owns the store; then nothing is written or removed there. */
  readonly mayOnlyRead?: boolean
}

/**
 * What the object `catalog` contains: the mark of a catalog, which all copies of the catalog have in common, and which of
 * them owns the store.
 */
interface Stamp {
  readonly mark: string
  /** The identity of the owner's database; undefined if none has claimed the store. */
  readonly database: string | undefined
  /** How often the store was taken over. A promoted replica has its primary's identity, but not its later epochs. */
  readonly epoch: number
}

/** @param tag the version of the object, on which a replacement can depend */
async function readStamp(objects: S3Store): Promise<(Stamp & { readonly tag: string }) | undefined> {
  const found = await objects.read(KEY)
  if (!found) return undefined
  const [, mark = '', database, epoch = '0'] = SHAPE.exec(Buffer.from(found.data).toString()) ?? []
  return { mark, database, epoch: Number(epoch), tag: found.tag }
}

/**
 * Writes a stamp into a store that has none, or in place of the one that was read. Gives whether it is there now: a store
 * without conditions may have taken that of somebody else meanwhile.
 */
async function putStamp(
  objects: S3Store,
  { mark, database, epoch }: Stamp,
  replaces?: { readonly tag: string },
): Promise<boolean> {
  const text = database === undefined ? mark : `${mark} ${database} ${epoch}`
  await objects.put(KEY, { data: Buffer.from(text) }, replaces ? { IfMatch: replaces.tag } : ONLY_NEW)
  const found = await readStamp(objects)
  return found?.mark === mark && found.database === database && found.epoch === epoch
}

/** The store that holds this catalog's parts; undefined if they are in the data directory. */
export function ownStore(handle: Handle, row = HERE): Promise<OwnStore | undefined> {
  return handle.get<OwnStore>('SELECT name, mark, epoch FROM part_store WHERE id = ?', row)
}

/**
 * Makes sure that a store holds the parts of this catalog and of no other, and that this catalog owns it. A second
 * catalog in the same place would remove the parts of the first as leftovers, and a copy of the catalog would remove
 * parts that the original still shows. A store that was copied to another place is recognized by its mark.
 * @throws EngineError `invalid_option`, `storage_unavailable`
 */
export async function claimStore(
  database: Database,
  objects: S3Store,
  { takeOver = false, mayOnlyRead = false }: ClaimOptions = {},
): Promise<void> {
  const own = await ownStore(database)
  const hasParts = (await database.get('SELECT 1 FROM parts LIMIT 1')) !== undefined
  if (!own && hasParts) {
    throw invalidOption(
      `The rows lie in the data directory, not in ${objects.name}: move them there with parquetry migrate.`,
    )
  }
  const { name, mark, epoch } = own ?? (await begin(database, objects, HERE))
  if (!hasParts) await putMark(objects, mark)
  const found = await readStamp(objects)
  if (found?.mark !== mark) {
    throw invalidOption(
      `The rows of this catalog lie in ${name}, and ${objects.name} is neither that store nor a copy of it.`,
    )
  }
  const expected = { mark, database: await database.identity(), epoch }
  if (takeOver) await takeStore(database, objects, found, expected)
  else if (!found.database && expected.database) await putStamp(objects, expected, found)
  if (name !== objects.name)
    await database.run('UPDATE part_store SET name = ? WHERE id = ?', objects.name, HERE)
  if (!takeOver && !mayOnlyRead) await requireOwner(database, objects, expected)
}

/** Makes this catalog the owner. What the owner was before finds a later epoch, and writes and removes nothing more. */
async function takeStore(
  database: Database,
  objects: S3Store,
  found: Stamp & { readonly tag: string },
  expected: Stamp,
): Promise<void> {
  const epoch = Math.max(found.epoch, expected.epoch) + 1
  if (!(await putStamp(objects, { ...expected, epoch }, found))) {
    throw invalidOption(
      `${objects.name} was just taken over by another process. If that is a node of this database, start without --take-over.`,
    )
  }
  await database.run('UPDATE part_store SET epoch = ? WHERE id = ?', epoch, HERE)
}

async function requireOwner(database: Database, objects: S3Store, expected: Stamp): Promise<void> {
  const found = await readStamp(objects)
  // Another node of this database may have taken the store over meanwhile.
  const { epoch = 0 } = (await ownStore(database)) ?? {}
  if (!found || isOwner(found, { ...expected, epoch })) return
  throw invalidOption(
    `${objects.name} belongs to another copy of this catalog (${describe(found)}; this is ` +
      `${describe({ ...expected, epoch })}), and two would remove each other's rows. Give a copy a store of its own. If this ` +
      'catalog replaces the other one, start one node with --take-over.',
  )
}

/**
 * Makes a store the target to which parts are moved. If a move to it was begun before, that move is continued. A move
 * that was begun to another store is forgotten.
 * @throws EngineError `invalid_option`, `storage_unavailable`
 */
export async function claimTarget(database: Database, objects: S3Store): Promise<void> {
  const before = await ownStore(database, TARGET)
  const { mark } = before?.name === objects.name ? before : await begin(database, objects, TARGET)
  await putMark(objects, mark)
}

/** Records that the parts now are in the place to which they were moved: the claimed target, or the data directory. */
export async function settleIn(handle: Handle, where: 'target' | 'directory'): Promise<void> {
  await handle.run('DELETE FROM part_store WHERE id <> ?', where === 'target' ? TARGET : 0)
  await handle.run('UPDATE part_store SET id = ?', HERE)
}

/**
 * Makes a new mark for a store and writes it into the catalog. The store gets it only afterwards, because a mark that
 * is only in the store would belong to no catalog.
 */
async function begin(database: Database, objects: S3Store, row: number): Promise<OwnStore> {
  if (await readStamp(objects)) {
    // Another node of the same catalog may have written both since the catalog was read; then the marks are equal.
    const written = await ownStore(database, row)
    if (written) return written
    throw belongsToAnother(objects)
  }
  // Another process on the same catalog may do this at the same moment. Then the mark that was written first is used. An
  // earlier target is forgotten.
  await database.run(
    `INSERT INTO part_store (id, name, mark) VALUES (?, ?, ?) ON CONFLICT (id)
     DO UPDATE SET name = excluded.name, mark = excluded.mark, epoch = 0 WHERE part_store.id = ${TARGET}`,
    row,
    objects.name,
    randomUUID(),
  )
  return (await ownStore(database, row))!
}

/** Writes the mark into a store that has none. @throws EngineError `invalid_option` if the store has another mark */
async function putMark(objects: S3Store, mark: string): Promise<void> {
  const found = await readStamp(objects)
  if (!found) await putStamp(objects, { mark, database: undefined, epoch: 0 })
  if ((found ?? (await readStamp(objects)))?.mark !== mark) throw belongsToAnother(objects)
}

function belongsToAnother({ name }: S3Store): EngineError {
  return invalidOption(
    `${name} holds the rows of another catalog. Name another prefix, or restore the catalog that belongs to it.`,
  )
}

/**
 * A store of objects in which only its owner writes and removes. A copy of a catalog, as a restored dump or a former
 * primary, would otherwise remove the parts that its original still shows. The stamp itself is written to become the owner.
 */
export class OwnedStore extends S3Store {
  readonly #database: Database
  readonly #identity: string | undefined
  readonly #onLost: (error: EngineError) => void
  #last: { readonly at: number; readonly check: Promise<void> } | undefined

  /**
   * @param identity of the database
   * @param onLost called when the store turns out to belong to another catalog, once until it is ours again
   */
  constructor(
    address: S3Address,
    database: Database,
    identity: string | undefined,
    onLost: (error: EngineError) => void,
  ) {
    super(address)
    this.#database = database
    this.#identity = identity
    this.#onLost = onLost
  }

  override async put(key: string, body: ObjectBody, condition?: Condition): Promise<'stored' | 'there'> {
    if (key !== KEY) await this.answers(WRITE_MS)
    try {
      return await super.put(key, body, condition)
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
    // Another node may have raised the epoch.
    const own = await ownStore(this.#database)
    if (own && isOwner(found, { ...own, database: this.#identity })) {
      this.isLost = false
      return
    }
    const error = new EngineError(
      'writes_stopped',
      `${this.name} now belongs to another catalog${found ? ` (${describe(found)})` : ''}. This one changes nothing ` +
        'there any more; reads go on.',
    )
    if (!this.isLost) this.#onLost(error)
    this.isLost = true
    throw error
  }
}

function isOwner(found: Stamp | undefined, own: Stamp): boolean {
  if (found?.mark !== own.mark || found.database !== own.database) return false
  return own.database === undefined || found.epoch === own.epoch
}

function describe({ database, epoch }: Stamp): string {
  return `database ${database ?? 'of a data directory'}, epoch ${epoch}`
}
