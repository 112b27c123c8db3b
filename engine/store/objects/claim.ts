import { randomUUID } from 'node:crypto'
import type { Database, Handle } from '../../catalog/database.ts'
import { EngineError } from '../../errors.ts'
import { MissingObject, type ObjectStore } from './object-store.ts'

/** Beside the parts: says whose they are. */
const MARK = 'catalog'
const MARK_BYTES = 36

/** The store of objects in which a catalog has its parts. */
export interface OwnStore {
  readonly name: string
  /** The same stands in the store. */
  readonly mark: string
}

/** Rows of the table: where the parts are, and where they are being moved. */
const HERE = 1
const TARGET = 2

/** Undefined where the parts are in the data directory. */
export function ownStore(handle: Handle): Promise<OwnStore | undefined> {
  return read(handle, HERE)
}

/**
 * Makes sure that a store holds this catalog's parts and no other's: a second catalog in the same place would take the
 * parts of the first for leftovers. A store that was copied elsewhere is known again by its mark.
 * @throws EngineError `invalid_option`, `storage_unavailable`
 */
export async function claimStore(database: Database, objects: ObjectStore): Promise<void> {
  const own = await ownStore(database)
  const hasParts = (await database.get('SELECT 1 FROM parts LIMIT 1')) !== undefined
  if (!own && hasParts) {
    throw new EngineError(
      'invalid_option',
      `The rows lie in the data directory, not in ${objects.name}: move them there with parquetry migrate --store.`,
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
 * Makes a store the one to which parts are being moved; the same again goes on with it. What was begun with another one
 * is forgotten.
 * @throws EngineError `invalid_option`, `storage_unavailable`
 */
export async function claimTarget(database: Database, objects: ObjectStore): Promise<void> {
  const before = await read(database, TARGET)
  const { mark } = before?.name === objects.name ? before : await begin(database, objects, TARGET)
  await putMark(objects, mark)
}

/** From now on the parts are where they were moved to: the claimed target, or the data directory. */
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

/** In the catalog first: a mark in the store alone would belong to nobody. */
async function begin(database: Database, objects: ObjectStore, row: number): Promise<OwnStore> {
  if ((await readMark(objects)) !== undefined) throw belongsToAnother(objects)
  const store = { name: objects.name, mark: randomUUID() }
  // Another process on the same catalog may come here at the same moment: its mark is as good.
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

/** Puts the mark where none is. @throws EngineError `invalid_option` where another one is */
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
