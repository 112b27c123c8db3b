import { LRUCache } from 'lru-cache'
import { EngineError } from '../errors.ts'
import type { Column } from '../types/index.ts'
import type { Handle } from './database.ts'
import { isUniqueViolation } from './failures.ts'
import { checkName, isId, now } from './fields.ts'
import type { DatasetName, DatasetRecord, DatasetSummary } from './records.ts'
import { noRepository } from './repositories.ts'

/** The name under which the record of a dataset is recalled. */
export const recordNamed = (id: number) => `dataset ${id}`

interface Row extends Omit<DatasetRecord, 'columns'> {
  readonly columns: string
}

const SELECT = `
  SELECT d.id, d.name, d.description, d.repository_id AS "repositoryId", v.number AS version,
    v.rows AS "rowCount", v.bytes, v.columns, d.created_at AS "createdAt", d.updated_at AS "updatedAt"
  FROM datasets d JOIN versions v ON v.id = d.version_id`

interface SummaryRow extends Omit<DatasetRecord, 'columns'> {
  readonly columns: string | null
  readonly versionId: number
}

const PAGE = `${SELECT.replace('v.columns,', 'CASE WHEN octet_length(v.columns) <= CAST(? AS BIGINT) THEN v.columns END AS columns, v.id AS "versionId",')}
  WHERE d.id > ? ORDER BY d.id LIMIT ?`

export class Datasets {
  readonly #handle: Handle
  readonly #columnCounts: LRUCache<number, number>

  constructor(handle: Handle, columnCounts = new LRUCache<number, number>({ max: 10_000 })) {
    this.#handle = handle
    this.#columnCounts = columnCounts
  }

  /** The same datasets, read and written in a transaction. */
  in(t: Handle): Datasets {
    return new Datasets(t, this.#columnCounts)
  }

  /** Makes a dataset without rows. @throws EngineError `not_found` (repository), `name_taken`, `invalid_name` */
  async create(fields: {
    repositoryId: number
    name: string
    description?: string
    columns: readonly Column[]
  }): Promise<DatasetRecord> {
    const at = now()
    if (!isId(fields.repositoryId)) throw noRepository(fields.repositoryId)
    return this.#handle.transaction(async (t) => {
      await t.lock('repositories', fields.repositoryId)
      if (!(await t.get('SELECT 1 FROM repositories WHERE id = ?', fields.repositoryId))) {
        throw noRepository(fields.repositoryId)
      }
      const version = await t.insert(
        'INSERT INTO versions (number, columns, rows, bytes, raw_bytes, created_at) VALUES (0, ?, 0, 0, 0, ?)',
        JSON.stringify(fields.columns),
        at,
      )
      const id = await named(fields.name, () =>
        t.insert(
          `INSERT INTO datasets (repository_id, name, description, version_id, created_at, updated_at)
           VALUES (?, ?, ?, ?, ?, ?)`,
          fields.repositoryId,
          checkName(fields.name, 'dataset'),
          fields.description ?? '',
          version,
          at,
          at,
        ),
      )
      return this.in(t).get(id)
    })
  }

  async list(where: { repositoryId?: number } = {}): Promise<DatasetRecord[]> {
    const rows =
      where.repositoryId === undefined
        ? await this.#handle.all<Row>(`${SELECT} ORDER BY d.id`)
        : await this.#handle.all<Row>(`${SELECT} WHERE d.repository_id = ? ORDER BY d.id`, where.repositoryId)
    return rows.map(recordOf)
  }

  /** What the datasets are called, in the order of their ids. The same list is given until something changes. */
  names(where: { repositoryId?: number } = {}): Promise<readonly DatasetName[]> {
    const { repositoryId } = where
    const named = 'SELECT id, name, description, repository_id AS "repositoryId" FROM datasets'
    return this.#handle.recall(`names of datasets in ${repositoryId ?? 'all'}`, () =>
      repositoryId === undefined
        ? this.#handle.all<DatasetName>(`${named} ORDER BY id`)
        : this.#handle.all<DatasetName>(`${named} WHERE repository_id = ? ORDER BY id`, repositoryId),
    )
  }

  /**
   * The next datasets after an id. Their columns are given only if they take at most `columnBytes` as JSON: nobody who
   * looks at a list reads the columns of a wide table, and reading them for all tables takes seconds.
   */
  async page(after: number, most: number, columnBytes: number): Promise<DatasetSummary[]> {
    const rows = await this.#handle.all<SummaryRow>(PAGE, columnBytes, after, most)
    const page: DatasetSummary[] = []
    for (const { columns, versionId, ...row } of rows) {
      if (columns === null) page.push({ ...row, columnCount: await this.#countColumns(versionId) })
      else {
        const parsed = JSON.parse(columns) as Column[]
        page.push({ ...row, columnCount: parsed.length, columns: parsed })
      }
    }
    return page
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
    return this.#handle.recall(recordNamed(id), async () => {
      const row = isId(id) ? await this.#handle.get<Row>(`${SELECT} WHERE d.id = ?`, id) : undefined
      if (!row) throw new EngineError('not_found', `There is no dataset ${id}.`)
      return recordOf(row)
    })
  }

  async update(id: number, fields: { name?: string; description?: string }): Promise<DatasetRecord> {
    return this.#handle.transaction(async (t) => {
      await t.lock('datasets', id)
      const old = await this.in(t).get(id)
      const name = fields.name === undefined ? old.name : checkName(fields.name, 'dataset')
      await named(name, () =>
        t.run(
          'UPDATE datasets SET name = ?, description = ?, updated_at = ? WHERE id = ?',
          name,
          fields.description ?? old.description,
          now(),
          id,
        ),
      )
      return this.in(t).get(id)
    })
  }

  async delete(id: number): Promise<void> {
    if ((await this.#handle.run('DELETE FROM datasets WHERE id = ?', id)) === 0) {
      throw new EngineError('not_found', `There is no dataset ${id}.`)
    }
  }
}

async function named<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new EngineError('name_taken', `The repository already has a dataset named ${JSON.stringify(name)}.`)
  }
}

function recordOf(row: Row): DatasetRecord {
  return { ...row, columns: JSON.parse(row.columns) }
}
