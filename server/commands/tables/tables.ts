import type { Readable } from 'node:stream'
import { type Format, nearest, type UploadFormat } from '../../../engine/index.ts'
import type { CHANGE, OptionsOf, QUERY, UPLOADING, VERSION, WRITING } from '../../../engine/options.ts'
import type {
  ApiKey,
  Dataset,
  DatasetPatch,
  DatasetSummary,
  EditedRows,
  ManagedAccount,
  Member,
  NewSource,
  Repository,
  Source,
  Version,
  WrittenDataset,
} from '../../client/index.ts'
import { UsageError } from '../usage.ts'

/** Which rows are exported, and how they are written. */
export type ExportOptions = OptionsOf<typeof QUERY & typeof WRITING & typeof VERSION>

type SqlOptions = Pick<ExportOptions, 'top' | 'skip' | keyof typeof WRITING>
type Change = OptionsOf<typeof CHANGE>

export interface RepositoryLine extends Pick<Repository, 'id' | 'name'> {
  readonly owner?: string
  /** 0 for one's own, 1 for those shared with one, 2 for public ones; absent if the lists are nobody's. */
  readonly precedence?: number
}
export type DatasetLine = Pick<DatasetSummary, 'id' | 'name' | 'repositoryId' | 'rowCount'>

/** The file or standard input that is imported, or bytes of one. */
export interface ImportedFile {
  readonly from: { readonly file: string; readonly bytes: number } | Readable | Uint8Array<ArrayBuffer>
  readonly format: UploadFormat
  readonly gzip: boolean
  /** How the file is to be read. */
  readonly options: OptionsOf<typeof UPLOADING>
}

export type WriteMode = 'append' | 'replace' | 'upsert'

export interface WriteOptions extends Change {
  /** The columns by which an upsert finds rows. */
  readonly on: readonly string[] | undefined
  readonly signal?: AbortSignal
  /** A server saves rows with the same key once. */
  readonly idempotencyKey?: string
  /** Called with the bytes that were read or sent, and the rows if their number is known. */
  readonly onProgress: (done: { readonly bytes: number; readonly rows?: number }) => void
}

export type Written = Pick<
  WrittenDataset,
  | 'id'
  | 'rowCount'
  | 'version'
  | 'columns'
  | 'options'
  | 'why'
  | 'sheet'
  | 'entry'
  | 'table'
  | 'warnings'
  | 'hints'
>

/** The part of the client that commands use, which a data directory offers as well. */
export interface Tables {
  readonly repositories: {
    list(): Promise<readonly RepositoryLine[]>
    create(fields: { name: string; description: string }): Promise<RepositoryLine>
    members(id: number): Promise<readonly Member[]>
    setMember(id: number, account: string, permission: Member['permission']): Promise<unknown>
    removeMember(id: number, account: string): Promise<unknown>
  }
  readonly datasets: {
    list(): Promise<readonly DatasetLine[]>
    get(id: number): Promise<Dataset>
    create(fields: {
      name: string
      repositoryId: number
      query?: { sql: string }
    }): Promise<{ readonly id: number }>
    patch(id: number, fields: DatasetPatch): Promise<unknown>
    delete(id: number): Promise<unknown>
    versions(id: number, page: { readonly limit: number }): Promise<readonly Version[]>
    restore(id: number, version: number, change: Change): Promise<{ readonly version: number }>
    undo(id: number, version: number, change: Change): Promise<EditedRows>
    editRows(
      id: number,
      filter: string,
      values: Readonly<Record<string, string | null>>,
      change: Change,
    ): Promise<EditedRows>
    source(id: number): Promise<Source | undefined>
    follow(id: number, fields: NewSource): Promise<Source>
    unfollow(id: number): Promise<unknown>
  }
  readonly accounts: {
    list(): Promise<readonly ManagedAccount[]>
    create(account: { name: string; plan: string }): Promise<ApiKey>
    update(name: string, changes: { plan?: string; disabled?: boolean }): Promise<unknown>
    rotateKey(name: string): Promise<ApiKey>
  }
  write(id: number, mode: WriteMode, file: ImportedFile, options: WriteOptions): Promise<Written>
  /** The rows of a SELECT over datasets. */
  sql(text: string, format: Format, options: SqlOptions, signal: AbortSignal): AsyncIterable<Uint8Array>
  read(id: number, format: Format, options: ExportOptions, signal: AbortSignal): AsyncIterable<Uint8Array>
}

/** Finds a repository by its id or its name. @throws UsageError if none or several match */
export async function findRepository(tables: Tables, text: string): Promise<RepositoryLine> {
  const all = await tables.repositories.list()
  // If the text is the id of one repository and the name of another, the id counts.
  const byId = all.filter(({ id }) => String(id) === text)
  const found = byId.length > 0 ? byId : namedBy(text, all, (one) => ({ home: one, short: [one.name] }))
  if (found.length === 1) return found[0]!
  if (found.length > 1) throw new UsageError(several('repositories', text, found))
  const known = all.length === 0 ? 'There are none yet' : `There are ${list(all)}`
  throw new UsageError(
    `There is no repository ${JSON.stringify(text)}. ${known}; \`parquetry repository create NAME\` makes one.`,
  )
}

/**
 * Finds a dataset by its id, or by repository/dataset, where each is a name or an id. @throws UsageError if none or
 * several match
 */
export async function findDataset(tables: Tables, text: string): Promise<DatasetLine> {
  const all = await tables.datasets.list()
  if (/^\d+$/.test(text)) {
    const found = all.find(({ id }) => String(id) === text)
    if (found) return found
    throw new UsageError(`There is no dataset ${text}. \`parquetry repository list\` shows all datasets.`)
  }
  // Names may contain slashes, so the text can't simply be split at one.
  const repositories = await tables.repositories.list()
  const namesOf = ({ name, id, repositoryId }: DatasetLine) => {
    const home = repositories.find((one) => one.id === repositoryId)
    const homes = [...(home ? [home.name] : []), String(repositoryId)]
    return { home, short: homes.flatMap((one) => [`${one}/${name}`, `${one}/${id}`]) }
  }
  const found = namedBy(text, all, namesOf)
  if (found.length === 1) return found[0]!
  if (found.length > 1) throw new UsageError(several('datasets', text, found))
  // An id that is one digit off is another dataset.
  const near = nearest(
    text,
    all.map((one) => `${namesOf(one).home?.name}/${one.name}`),
  )
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  throw new UsageError(
    `There is no dataset ${JSON.stringify(text)}.${hint} Name it by its id or as repository/dataset; \`parquetry repository list\` shows both.`,
  )
}

interface Names {
  readonly home: RepositoryLine | undefined
  /** Its names without that of the owner. */
  readonly short: readonly string[]
}

/** What a name means: one's own, or what is so called with its owner in front, or what is shared, or what is public. */
function namedBy<Item>(text: string, all: readonly Item[], namesOf: (item: Item) => Names): readonly Item[] {
  const [own, long, shared, others] = [0, 'long', 1, 2].map((kind) =>
    all.filter((item) => {
      const { home, short } = namesOf(item)
      if (kind === 'long') return short.some((name) => text === `${home?.owner}/${name}`)
      return (home?.precedence ?? 0) === kind && short.includes(text)
    }),
  )
  return [own!, long!, shared!, others!].find(({ length }) => length > 0) ?? []
}

function several(what: string, text: string, found: readonly RepositoryLine[]): string {
  return `${found.length} ${what} are named ${JSON.stringify(text)}; use an id instead: ${found.map(({ id }) => id).join(', ')}.`
}

const MOST_NAMED = 8

function list(lines: readonly RepositoryLine[]): string {
  const named = lines.slice(0, MOST_NAMED).map(({ id, name }) => `${name} (${id})`)
  return named.join(', ') + (lines.length > MOST_NAMED ? ` and ${lines.length - MOST_NAMED} more` : '')
}

/** Finds the dataset of a name in a repository, or makes it. */
export async function findOrMake(tables: Tables, repositoryId: number, name: string): Promise<Named> {
  const all = await tables.datasets.list()
  const known = all.find((one) => one.repositoryId === repositoryId && one.name === name)
  const { id } = known ?? (await tables.datasets.create({ repositoryId, name }))
  return { id, known }
}

interface Named {
  readonly id: number
  /** What there was before, if anything. */
  readonly known: DatasetLine | undefined
}

/**
 * Does work for a dataset. If it fails, a dataset that the command has made for it is removed again, because it would
 * stay empty.
 */
export async function orRemoved<T>(tables: Tables, { id, known }: Named, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // If the dataset can't be removed either, the first error still says more.
    if (!known) await tables.datasets.delete(id).catch(() => {})
    throw error
  }
}
