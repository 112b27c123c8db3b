import { createHash } from 'node:crypto'
import type { Handle } from '../catalog/database.ts'
import { attachedFiles } from '../catalog/datasets.ts'
import type { Authorship } from '../catalog/history.ts'
import { type DatasetRecord, isAttached, type Part, type Version } from '../catalog/records.ts'
import { EngineError, invalidOption } from '../errors.ts'
import type { QueryExecutor } from '../export/index.ts'
import { fieldsOf } from '../ingest/parquet/arrow-fields.ts'
import { elementsOf, FIELD, pairsOf } from '../parquet/footer.ts'
import { footerOf } from '../parquet/parquet-file.ts'
import { schemaOf } from '../parquet/schema.ts'
import { readStruct, type Struct, writeStruct } from '../parquet/thrift.ts'
import { hashFooter } from '../store/integrity/hashes.ts'
import { quickCheck } from '../store/objects/folder.ts'
import type { Store } from '../store/store.ts'
import { checkColumns, MOST_COLUMNS } from '../types/columns.ts'
import { keepDescriptions } from '../types/file-metadata.ts'
import { quoteLiteral } from '../types/index.ts'
import { type AttachableColumn, attachableColumns, contentsOf, requireSame } from './attachable-file.ts'
import { attachedBucket } from './bucket.ts'
import { type AttachedFolder, attachedFolder, type ListedFile } from './listing.ts'

export interface AttachOptions extends Authorship {
  /** Whether the files are followed, so that nobody has asked for this version. */
  readonly isRefresh?: boolean
  /** Called in the transaction that makes a version, with its number. */
  readonly accept?: (version: number, t: Handle) => Promise<void>
  readonly signal?: AbortSignal
}

/** How many files are read at once. */
const AT_ONCE = 32

/** A file as it is now, and its columns where it was read. */
interface Found {
  readonly part: Omit<Part, 'id'> & { readonly id?: number }
  readonly file: ListedFile
  readonly columns?: readonly AttachableColumn[]
}

/**
 * Makes Parquet files the rows of a dataset, without copying them. Files that it has already, unchanged, are not read
 * again; if there are no others, no version is made.
 * @param path a folder, a file, or a pattern with `*`, `?` and `**`; or such an address `s3://bucket/key`
 * @throws EngineError `invalid_file`, naming file, column and reason; `attached_files` where the dataset has other rows;
 * `invalid_option`
 */
export async function attach(
  datasetId: number,
  path: string,
  { accept, signal, isRefresh = false, by, note }: AttachOptions,
  { store, executor }: { readonly store: Store; readonly executor: () => Promise<QueryExecutor> },
): Promise<DatasetRecord> {
  const folder = await folderOf(path, store)
  const forms = new Forms(executor)
  for (;;) {
    signal?.throwIfAborted()
    await store.datasets.requireStored(datasetId)
    const base = await store.versions.current(datasetId)
    if (base.parts.length > 0 && !isAttached(base.parts)) throw attachedFiles(datasetId)
    const found = await findAll(folder, base, forms, signal)
    const isSame =
      found.length === base.parts.length && found.every(({ part }, at) => part.id === base.parts[at]!.id)
    if (isSame) return store.datasets.get(datasetId)
    const columns = await columnsOf(found, folder, forms, signal)
    const parts = await register(store, found)
    const [added, removed] = [difference(parts, base.parts), difference(base.parts, parts)]
    const operation = isRefresh ? 'refresh' : 'replace'
    const change = { by, note, operation, addedRows: rowsOf(added), removedRows: rowsOf(removed) } as const
    const done = await store.commits.commit(
      datasetId,
      added,
      async (current, t) => {
        if (current.id !== base.id) return undefined
        await accept?.(current.number + 1, t)
        return { columns: keepDescriptions(columns, base.columns), key: [], parts, change }
      },
      { more: accept !== undefined },
    )
    if (done) return store.datasets.get(datasetId)
  }
}

function folderOf(path: string, { files, temporary }: Store): AttachedFolder | Promise<AttachedFolder> {
  const { attachable, objects } = files
  if (path.startsWith('s3://'))
    return attachedBucket(path, { attachable, temporary, bucketOf: (name) => files.bucket(name) })
  if (/^\w+:\/\//.test(path))
    throw invalidOption(
      `Files of this machine and objects s3://bucket/key can be attached: mount what ${path} names, and attach that folder.`,
    )
  if (objects)
    throw invalidOption(
      'Files of a machine are attached only where rows are kept in a data directory; objects s3://bucket/key everywhere.',
    )
  return attachedFolder(path, attachable)
}

/** The files of a folder: those that the version has already, and what is found in the others. */
async function findAll(
  folder: AttachedFolder,
  { parts }: Version,
  forms: Forms,
  signal: AbortSignal | undefined,
): Promise<readonly Found[]> {
  const files = await folder.list()
  const known = new Map(parts.map((part) => [`${part.attached!.folder}/${part.attached!.name}`, part]))
  const found: Found[] = []
  for (let at = 0; at < files.length; at += AT_ONCE) {
    signal?.throwIfAborted()
    const some = files.slice(at, at + AT_ONCE).map(async (file): Promise<Found> => {
      const part = known.get(`${folder.folder}/${file.name}`)
      const isKnown = part?.bytes === file.bytes && part.attached!.changed === file.changed
      return isKnown ? { part, file } : readFile(folder, file, forms, signal)
    })
    found.push(...(await Promise.all(some)))
  }
  return found
}

async function readFile(
  folder: AttachedFolder,
  file: ListedFile,
  forms: Forms,
  signal: AbortSignal | undefined,
): Promise<Found> {
  const { name, bytes, changed } = file
  await using opened = await folder.open(file, signal)
  const { path } = opened
  const problem = quickCheck(path, bytes)
  if (problem !== undefined) throw new EngineError('invalid_file', `${name} can't be attached: ${problem}.`)
  const { footer, hash } = await footerIn(path, name)
  const columns = await forms.columnsOf(path, name, footer)
  const contents = contentsOf(name, footer, columns)
  const attached = { folder: folder.folder, name, changed, form: formOf(columns), hasIds: hasIds(footer) }
  return { part: { ...contents, bytes, hash, attached }, file, columns }
}

async function footerIn(
  path: string,
  name: string,
): Promise<{ readonly footer: Struct; readonly hash: string }> {
  try {
    return { footer: readStruct((await footerOf(path)).footer), hash: await hashFooter(path) }
  } catch (cause) {
    throw new EngineError('invalid_file', `The footer of ${name} is damaged.`, { cause })
  }
}

function hasIds(footer: Struct): boolean {
  return elementsOf(footer).some((element) => element.has(FIELD.element.fieldId))
}

function formOf(columns: readonly AttachableColumn[]): string {
  const text = JSON.stringify(columns.map(({ name, duckType }) => [name, duckType]))
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

/** What DuckDB says of the columns of files. It is asked once for all files whose schemas are written in the same way. */
class Forms {
  readonly #executor: () => Promise<QueryExecutor>
  readonly #described = new Map<string, Promise<{ readonly name: string; readonly duckType: string }[]>>()

  constructor(executor: () => Promise<QueryExecutor>) {
    this.#executor = executor
  }

  /** @throws EngineError `invalid_file` */
  async columnsOf(path: string, name: string, footer: Struct): Promise<AttachableColumn[]> {
    const top = schemaOf(footer).filter(({ isColumn }) => isColumn).length
    if (top > MOST_COLUMNS || top === 0)
      throw new EngineError('invalid_file', `${name} has ${top} columns; a dataset has 1 to ${MOST_COLUMNS}.`)
    const form = elementsOf(footer)
      .map((element) => Buffer.from(writeStruct(element)).toString('base64'))
      .join()
    if (!this.#described.has(form)) this.#described.set(form, this.#describe(path))
    const described = await this.#described.get(form)!.catch((cause: unknown) => {
      throw new EngineError('invalid_file', `${name} can't be read as Parquet.`, { cause })
    })
    const fields = await fieldsOf(pairsOf(footer), schemaOf(footer)).catch((cause: Error) => {
      throw new EngineError('invalid_file', `${name} can't be attached. ${cause.message}`, { cause })
    })
    return attachableColumns(name, footer, described, fields)
  }

  async #describe(path: string) {
    const rows = await (await this.#executor()).rows({
      sql: `SELECT column_name, column_type FROM (DESCRIBE FROM read_parquet([${quoteLiteral(path)}], hive_partitioning = false))`,
      parameters: [],
      columns: [
        { name: 'name', type: 'string' },
        { name: 'type', type: 'string' },
      ],
    })
    return rows.map(([name, duckType]) => ({ name: String(name), duckType: String(duckType) }))
  }
}

/** The columns that all files have. @throws EngineError `invalid_file` */
async function columnsOf(
  found: readonly Found[],
  folder: AttachedFolder,
  forms: Forms,
  signal: AbortSignal | undefined,
) {
  const columnsIn = async ({ file, columns }: Found) => {
    if (columns) return columns
    await using opened = await folder.open(file, signal)
    const { footer } = await footerIn(opened.path, file.name)
    return forms.columnsOf(opened.path, file.name, footer)
  }
  const first = found.find((one) => one.columns) ?? found[0]!
  const columns = await columnsIn(first)
  for (const one of found) {
    if (one.part.attached!.form === first.part.attached!.form) continue
    requireSame([one.part.attached!.name, await columnsIn(one)], [first.part.attached!.name, columns])
  }
  return checkColumns(columns.map(({ name, type }) => ({ name, type })))
}

/** Gives parts to the files that are new, as those have that are written here. */
async function register({ storage, parts }: Store, found: readonly Found[]): Promise<Part[]> {
  const isNew = ({ part }: Found) => part.id === undefined
  const added = await parts.add(
    storage.mark.id,
    found.filter(isNew).map(({ part }) => part),
  )
  return found.map((one) => (isNew(one) ? added.shift()! : (one.part as Part)))
}

function difference(parts: readonly Part[], others: readonly Part[]): Part[] {
  const ids = new Set(others.map(({ id }) => id))
  return parts.filter(({ id }) => !ids.has(id))
}

function rowsOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { rows }) => sum + rows, 0)
}
