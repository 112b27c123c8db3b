import { randomUUID } from 'node:crypto'
import type { Database, Handle } from '../../catalog/database.ts'
import { EngineError } from '../../errors.ts'
import { MissingObject, type ObjectStore } from './object-store.ts'

/** The key of an object beside the parts, which says to which catalog they belong. */
const MARK = 'catalog'
const MARK_BYTES = 36

/** The store of objects that holds a catalog's parts. */
export interface OwnStore {
  readonly name: string
  /** The random text that is kept in the catalog and in the store, to show that they belong together. */
  readonly mark: string
}

/** The ids of the two rows of the table: where the parts are, and where they are being moved. */
const HERE = 1
const TARGET = 2

/** The store that holds this catalog's parts; undefined if they are in the data directory. */
export function ownStore(handle: Handle): Promise<OwnStore | undefined> {
  return read(handle, HERE)
}

/**
 * Makes sure that a store holds the parts of this catalog and of no other. A second catalog in the same place would
 * remove the parts of the first as leftovers. A store that was copied to another place is recognized by its mark.
 * @throws EngineError `invalid_option`, `storage_unavailable`
 */
export async function claimStore(database: Database, objects: ObjectStore): Promise<void> {
  const own = await ownStore(database)
  const hasParts = (await database.get('SELECT 1 FROM parts LIMIT 1')) !== undefined
  if (!own && hasParts) {
    throw new EngineError(
      'invalid_option',
      `The rows lie in the data directory, not in ${objects.name}: move them there with parquetry migrate.`,
    )
  }
  const { name, mark } = own ?? (await begin(database, objects, HERE))
  if (!hasParts) await putMark(objects, mark)
  else if ((await readMark(objects)) !== mark) {
    throw new EngineError(
      'invalid_option',
      `The rows of this catalog lie in ${name}, and ${objects.name} is neither that store nor a copy of it.`,
    )
  }
  if (name !== objects.name) await write(database, HERE, { name: objects.name, mark })
}

/**
 * Makes a store the target to which parts are moved. If a move to it was begun before, that move is continued. A move
 * that was begun to another store is forgotten.
 * @throws EngineError `invalid_option`, `storage_unavailable`
 */
export async function claimTarget(database: Database, objects: ObjectStore): Promise<void> {
  const before = await read(database, TARGET)
  const { mark } = before?.name === objects.name ? before : await begin(database, objects, TARGET)
  await putMark(objects, mark)
}

/** Records that the parts now are in the place to which they were moved: the claimed target, or the data directory. */
export async function settleIn(handle: Handle, where: 'target' | 'directory'): Promise<void> {
  const target = where === 'target' ? await read(handle, TARGET) : undefined
  await handle.run('DELETE FROM part_store')
  if (target) await write(handle, HERE, target)
}

function read(handle: Handle, row: number): Promise<OwnStore | undefined> {
  return handle.get<OwnStore>('SELECT name, mark FROM part_store WHERE id = ?', row)
}

async function write(handle: Handle, row: number, { name, mark }: OwnStore): Promise<void> {
  await handle.run(
    `INSERT INTO part_store (id, name, mark) VALUES (?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, mark = excluded.mark`,
    row,
    name,
    mark,
  )
}

/**
 * Makes a new mark for a store and writes it into the catalog. The store gets it only afterwards, because a mark that
 * is only in the store would belong to no catalog.
 */
async function begin(database: Database, objects: ObjectStore, row: number): Promise<OwnStore> {
  if ((await readMark(objects)) !== undefined) {
    // Another node of the same catalog may have written both since the catalog was read; then the marks are equal.
    const written = await read(database, row)
    if (written) return written
    throw belongsToAnother(objects)
  }
  const store = { name: objects.name, mark: randomUUID() }
  // Another process on the same catalog may do this at the same moment. Then the mark that was written first is used.
  if (row === TARGET) await write(database, row, store)
  else
    await database.run(
      'INSERT INTO part_store (id, name, mark) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      row,
      store.name,
      store.mark,
    )
  return (await read(database, row))!
}

/** Writes the mark into a store that has none. @throws EngineError `invalid_option` if the store has another mark */
async function putMark(objects: ObjectStore, mark: string): Promise<void> {
  const found = await readMark(objects)
  if (found === undefined) await objects.put(MARK, { data: Buffer.from(mark) }, { onlyNew: true })
  if ((found ?? (await readMark(objects))) !== mark) throw belongsToAnother(objects)
}

async function readMark(objects: ObjectStore): Promise<string | undefined> {
  try {
    return Buffer.from(await objects.get(MARK, 0, MARK_BYTES)).toString()
  } catch (error) {
    if (error instanceof MissingObject) return undefined
    throw error
  }
}

function belongsToAnother({ name }: ObjectStore): EngineError {
  return new EngineError(
    'invalid_option',
    `${name} holds the rows of another catalog. Name another prefix, or restore the catalog that belongs to it.`,
  )
}
