import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { EngineError } from '../errors.ts'
import { keyPositions } from '../types/columns.ts'
import type { DatasetMetadata } from '../types/file-metadata.ts'
import type { Column } from '../types/index.ts'
import { turn } from '../util/concurrency.ts'
import type { Handle } from './database.ts'
import { isUniqueViolation } from './failures.ts'
import { checkKeep, KEEP } from './history.ts'
import { changedMetadata, type Metadata } from './metadata.ts'
import {
  type DatasetChanges,
  type DatasetName,
  type DatasetRecord,
  type DatasetSummary,
  isAttached,
  type NewDataset,
  type SavedQuery,
  type Version,
} from './records.ts'
import { checkDescription, checkName, noRepository } from './repositories.ts'

/** The name under which the record of a dataset is cached. */
export const recordNamed = (id: number) => `dataset ${id}`

/** How many datasets of a list are read at once; fewer if their columns are read too, of which there may be 20,000. */
const LIST_PAGE = 200
const WIDE_LIST_PAGE = 10
const NAMES_PAGE = 1_000

interface Row
  extends Omit<DatasetRecord, 'columns' | 'keep' | 'key' | 'query' | 'uploadOptions' | keyof Metadata> {
  readonly columns: string
  readonly key: string | null
  readonly keepVersions: number | null
  readonly keepDays: number | null
  readonly metadata: string | null
  readonly query: string | null
  readonly uploadOptions: string | null
}

const SELECT = `
  SELECT d.id, d.name, d.description, d.repository_id AS "repositoryId", v.number AS version,
    v.rows AS "rowCount", v.bytes, v.columns, d.created_at AS "createdAt", d.updated_at AS "updatedAt",
    d.keep_versions AS "keepVersions", d.keep_days AS "keepDays", v.key_columns AS "key", d.metadata, d.query,
    d.upload_options AS "uploadOptions"
  FROM datasets d JOIN versions v ON v.id = d.version_id`

/** A condition whose parameter is the id of a repository, or null for all. */
const IS_IN = 'd.repository_id = coalesce(CAST(? AS BIGINT), d.repository_id)'

interface InRepository {
  readonly repositoryId?: number | null | undefined
}

/** The first and the last of some ids. */
export type IdRange = readonly [first: number, last: number]

const ALL_IDS: IdRange = [1, Number.MAX_SAFE_INTEGER]

interface SummaryRow extends Omit<Row, 'columns'> {
  readonly columns: string | null
  readonly versionId: number
}

const PAGE = `${SELECT.replace('v.columns,', 'CASE WHEN octet_length(v.columns) <= CAST(? AS BIGINT) THEN v.columns END AS columns, v.id AS "versionId",')}
  WHERE d.id > ? AND d.id <= ? AND ${IS_IN} ORDER BY d.id LIMIT ?`

/** All that may change of a dataset; the version stands for columns and rows. */
const STATES = `SELECT id, repository_id AS "repositoryId", name, description, version_id, keep_versions, keep_days,
  updated_at FROM datasets d WHERE id > ? AND ${IS_IN} ORDER BY id LIMIT ?`

export class Datasets {
  readonly #handle: Handle
  readonly #columnCounts: LRUCache<number, number>

  constructor(handle: Handle, columnCounts = new LRUCache<number, number>({ max: 10_000 })) {
    this.#handle = handle
    this.#columnCounts = columnCounts
  }

  /** The same datasets, read and written in a transaction, if there is one. */
  in(t: Handle | undefined): Datasets {
    return t ? new Datasets(t, this.#columnCounts) : this
  }

  /** Makes a dataset without rows. @throws EngineError `not_found` (repository), `name_taken`, `invalid_name` */
  async create(fields: NewDataset & { readonly columns: readonly Column[] }): Promise<DatasetRecord> {
    const at = new Date().toISOString()
    const { columns, key = [], query } = fields
    keyPositions(key, columns)
    return this.#handle.transaction(async (t) => {
      await lockRepository(t, fields.repositoryId)
      const version = await t.insert(
        'INSERT INTO versions (number, columns, key_columns, rows, bytes, raw_bytes, created_at) VALUES (0, ?, ?, 0, 0, 0, ?)',
        JSON.stringify(columns),
        key.length > 0 ? JSON.stringify(key) : null,
        at,
      )
      const id = await named(fields.name, () =>
        t.insert(
          `INSERT INTO datasets (repository_id, name, description, version_id, query, created_at, updated_at)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
          fields.repositoryId,
          checkName(fields.name, 'dataset'),
          checkDescription(fields.description ?? ''),
          version,
          query ? JSON.stringify(query) : null,
          at,
          at,
        ),
      )
      await t.run(
        "UPDATE versions SET dataset_id = ?, author = ?, operation = 'create', added_rows = 0, removed_rows = 0 WHERE id = ?",
        id,
        fields.by ?? null,
        version,
      )
      return this.in(t).get(id)
    })
  }

  async list({ repositoryId = null }: InRepository = {}): Promise<DatasetRecord[]> {
    const rows = await this.#handle.all<Row>(`${SELECT} WHERE ${IS_IN} ORDER BY d.id`, repositoryId)
    return rows.map(toRecord)
  }

  /** What the datasets are called, in the order of their ids. The same list is given until something changes. */
  names({ repositoryId = null }: InRepository = {}): Promise<readonly DatasetName[]> {
    return this.#handle.cached(`names of datasets in ${repositoryId ?? 'all'}`, async () => {
      const names: DatasetName[] = []
      const pages = inPages(NAMES_PAGE, 0, (after, most) =>
        this.#handle.all<DatasetName>(
          `SELECT id, name, description, repository_id AS "repositoryId" FROM datasets d
           WHERE ${IS_IN} AND id > ? ORDER BY id LIMIT ?`,
          repositoryId,
          after,
          most,
        ),
      )
      for await (const page of pages) names.push(...page)
      return names
    })
  }

  /**
   * All datasets, in the order of their ids, some at a time, so that a long list doesn't block the event loop. Their
   * columns are given only if they take at most `columnBytes` as JSON: nobody who looks at a list reads the columns of a
   * wide table, and reading them for all tables takes seconds.
   * @param ids only those from the first to the last of these
   */
  async *pages(
    columnBytes: number,
    repositoryId: number | null = null,
    [first, last]: IdRange = ALL_IDS,
  ): AsyncGenerator<readonly DatasetSummary[], void, undefined> {
    const most = Number.isFinite(columnBytes) ? LIST_PAGE : WIDE_LIST_PAGE
    const limit = Math.min(columnBytes, Number.MAX_SAFE_INTEGER)
    const pages = inPages(most, first - 1, (after) =>
      this.#handle.all<SummaryRow>(PAGE, limit, after, last, repositoryId, most),
    )
    for await (const rows of pages) {
      const page: DatasetSummary[] = []
      for (const row of rows) page.push(await this.#summary(row))
      yield page
    }
  }

  async #summary({ columns, versionId, ...given }: SummaryRow): Promise<DatasetSummary> {
    const row = parsedRow(given)
    if (columns === null) return { ...row, columnCount: await this.#countColumns(versionId) }
    const parsed = JSON.parse(columns) as Column[]
    return { ...row, columnCount: parsed.length, columns: parsed }
  }

  /**
   * A text that changes with each change of the datasets of these repositories.
   * @param repositoryId if it is only this one
   */
  async tag(isIn: (repositoryId: number) => boolean, repositoryId: number | null = null): Promise<string> {
    const hash = createHash('sha256')
    const pages = inPages(NAMES_PAGE, 0, (after, most) =>
      this.#handle.all<{ id: number; repositoryId: number }>(STATES, after, repositoryId, most),
    )
    for await (const page of pages) {
      hash.update(JSON.stringify(page.filter(({ repositoryId }) => isIn(repositoryId))))
    }
    return hash.digest('base64url').slice(0, 22)
  }

  /** Versions never change, so the columns of each are counted only once. */
  async #countColumns(versionId: number): Promise<number> {
    const known = this.#columnCounts.get(versionId)
    if (known !== undefined) return known
    const length = this.#handle.dialect.arrayLength('columns')
    const sql = `SELECT ${length} AS count FROM versions WHERE id = ?`
    const row = await this.#handle.get<{ count: number }>(sql, versionId)
    // The version was removed since the list was read, so that the list is outdated anyway.
    if (!row) return 0
    this.#columnCounts.set(versionId, row.count)
    return row.count
  }

  /** @throws EngineError `not_found` */
  get(id: number): Promise<DatasetRecord> {
    return this.#handle.cached(recordNamed(id), async () => {
      const row = Number.isSafeInteger(id)
        ? await this.#handle.get<Row>(`${SELECT} WHERE d.id = ?`, id)
        : undefined
      if (!row) throw new EngineError('not_found', `There is no dataset ${id}.`)
      return toRecord(row)
    })
  }

  /** Requires that a dataset has rows of its own. @throws EngineError `not_found`, `saved_query` */
  async requireStored(id: number): Promise<void> {
    if ((await this.get(id)).query) throw noStoredRows(id)
  }

  /** The query that a dataset stands for; undefined if it has rows of its own. @throws EngineError `not_found` */
  async saved(id: number): Promise<SavedQuery | undefined> {
    if (!(await this.get(id)).query) return undefined
    const row = await this.#handle.get<{ query: string }>('SELECT query FROM datasets WHERE id = ?', id)
    return row && (JSON.parse(row.query) as SavedQuery)
  }

  /** Changes the fields that are given; null removes one. @throws EngineError as `create` does */
  async update(id: number, fields: DatasetChanges): Promise<DatasetRecord> {
    return this.#handle.transaction(async (t) => {
      await t.lock('datasets', id)
      const old = await this.in(t).get(id)
      const name = fields.name === undefined ? old.name : checkName(fields.name, 'dataset')
      const { repositoryId = old.repositoryId, description = old.description } = fields
      if (repositoryId !== old.repositoryId) await lockRepository(t, repositoryId)
      const keep =
        fields.keep === undefined ? old.keep : fields.keep && { ...KEEP, ...old.keep, ...fields.keep }
      if (keep) checkKeep(keep)
      await named(name, () =>
        t.run(
          `UPDATE datasets SET repository_id = ?, name = ?, description = ?, keep_versions = ?, keep_days = ?, metadata = ?, updated_at = ?
           WHERE id = ?`,
          repositoryId,
          name,
          checkDescription(description ?? ''),
          keep?.versions ?? null,
          keep?.days ?? null,
          JSON.stringify(changedMetadata(old, fields)),
          new Date().toISOString(),
          id,
        ),
      )
      return this.in(t).get(id)
    })
  }

  /** Sets the fields that are empty, in the transaction of an upload that has them. */
  async fill(id: number, found: DatasetMetadata): Promise<void> {
    const old = await this.get(id)
    await this.#handle.run(
      'UPDATE datasets SET description = ?, metadata = ? WHERE id = ?',
      old.description || (found.description ?? ''),
      JSON.stringify(changedMetadata({ ...found, ...old }, {})),
      id,
    )
  }

  /** Notes how the last upload was read, in the transaction of its version. */
  async noteUploadOptions(id: number, options: DatasetRecord['uploadOptions'] = {}): Promise<void> {
    const text = Object.keys(options).length > 0 ? JSON.stringify(options) : null
    await this.#handle.run('UPDATE datasets SET upload_options = ? WHERE id = ?', text, id)
  }

  async delete(id: number): Promise<void> {
    if ((await this.#handle.run('DELETE FROM datasets WHERE id = ?', id)) === 0) {
      throw new EngineError('not_found', `There is no dataset ${id}.`)
    }
  }
}

/** Rows in the order of their ids, `most` at a time. Others get a turn of the event loop between. */
async function* inPages<Row extends { readonly id: number }>(
  most: number,
  after: number,
  read: (after: number, most: number) => Promise<Row[]>,
): AsyncGenerator<readonly Row[], void, undefined> {
  for (let last = after; ; await turn()) {
    const rows = await read(last, most)
    if (rows.length > 0) yield rows
    if (rows.length < most) return
    last = rows.at(-1)!.id
  }
}

export function noStoredRows(id: number): EngineError {
  return new EngineError(
    'saved_query',
    `Dataset ${id} is a saved query: it has no rows, versions and files of its own. Change the tables that it reads.`,
  )
}

/** Requires that the rows are in files of our own, which can be written anew. @throws EngineError `attached_files` */
export function requireOwnFiles(id: number, { parts }: Pick<Version, 'parts'>): void {
  if (isAttached(parts)) throw attachedFiles(id)
}

export function attachedFiles(id: number): EngineError {
  return new EngineError(
    'attached_files',
    `Dataset ${id} is of attached files, which stay as they are: its rows, columns and key can only be read. Change the ` +
      'files and attach them again, or upload them into another dataset.',
  )
}

/** @throws EngineError `not_found` */
async function lockRepository(t: Handle, id: number): Promise<void> {
  if (!Number.isSafeInteger(id)) throw noRepository(id)
  await t.lock('repositories', id)
  if (!(await t.get('SELECT 1 FROM repositories WHERE id = ?', id))) throw noRepository(id)
}

async function named<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new EngineError('name_taken', `The repository already has a dataset named ${JSON.stringify(name)}.`)
  }
}

function toRecord(row: Row): DatasetRecord {
  return { ...parsedRow(row), columns: JSON.parse(row.columns) }
}

/** A row with the fields that may not be set. Both parts of `keep` are, or neither is. */
function parsedRow<
  R extends Pick<Row, 'keepVersions' | 'keepDays' | 'key' | 'metadata' | 'query' | 'uploadOptions'>,
>(given: R) {
  const { keepVersions, keepDays, key, metadata, query, uploadOptions, ...row } = given
  const keep = keepVersions !== null && keepDays !== null && { versions: keepVersions, days: keepDays }
  return {
    ...row,
    ...(metadata && (JSON.parse(metadata) as Metadata)),
    ...(key !== null && { key: JSON.parse(key) as string[] }),
    ...(keep && { keep }),
    ...(uploadOptions !== null && { uploadOptions: JSON.parse(uploadOptions) as Record<string, string> }),
    ...(query !== null && { query: (JSON.parse(query) as SavedQuery).given, rowCount: null }),
  }
}
