import { LRUCache } from 'lru-cache'
import { EngineError } from '../errors.ts'
import type { Column } from '../types/index.ts'
import type { Database } from './database.ts'
import { isUniqueViolation } from './failures.ts'
import { checkName, now } from './fields.ts'
import type { DatasetRecord, DatasetSummary } from './records.ts'

interface Row extends Omit<DatasetRecord, 'columns'> {
  readonly columns: string
}

const SELECT = `
  SELECT d.id, d.name, d.description, d.repository_id AS repositoryId, v.number AS version, v.rows AS rowCount,
    v.bytes, v.columns, d.created_at AS createdAt, d.updated_at AS updatedAt
  FROM datasets d JOIN versions v ON v.id = d.version_id`

interface SummaryRow extends Omit<DatasetRecord, 'columns'> {
  readonly columns: string | null
  readonly versionId: number
}

const PAGE = `${SELECT.replace('v.columns,', 'CASE WHEN octet_length(v.columns) <= ? THEN v.columns END AS columns, v.id AS versionId,')}
  WHERE d.id > ? ORDER BY d.id LIMIT ?`

export class Datasets {
  readonly #database: Database
  readonly #columnCounts = new LRUCache<number, number>({ max: 10_000 })

  constructor(database: Database) {
    this.#database = database
  }

  /** Makes a dataset without rows. @throws EngineError `not_found` (repository), `name_taken`, `invalid_name` */
  create(fields: {
    repositoryId: number
    name: string
    description?: string
    columns: readonly Column[]
  }): DatasetRecord {
    const at = now()
    return this.#database.transaction(() => {
      if (!this.#database.get('SELECT 1 FROM repositories WHERE id = ?', fields.repositoryId)) {
        throw new EngineError('not_found', `There is no repository ${fields.repositoryId}.`)
      }
      const version = this.#database.run(
        'INSERT INTO versions (number, columns, rows, bytes, raw_bytes, created_at) VALUES (0, ?, 0, 0, 0, ?)',
        JSON.stringify(fields.columns),
        at,
      )
      const { id } = this.#named(fields.name, () =>
        this.#database.run(
          `INSERT INTO datasets (repository_id, name, description, version_id, created_at, updated_at)
           VALUES (?, ?, ?, ?, ?, ?)`,
          fields.repositoryId,
          checkName(fields.name, 'dataset'),
          fields.description ?? '',
          version.id,
          at,
          at,
        ),
      )
      return this.get(id)
    })
  }

  list(where: { repositoryId?: number } = {}): DatasetRecord[] {
    const rows =
      where.repositoryId === undefined
        ? this.#database.all<Row>(`${SELECT} ORDER BY d.id`)
        : this.#database.all<Row>(`${SELECT} WHERE d.repository_id = ? ORDER BY d.id`, where.repositoryId)
    return rows.map(recordOf)
  }

  /**
   * The next datasets behind an id, with columns where they are few: those of a wide table are read by nobody who looks
   * at a list, and reading them for all tables takes seconds.
   */
  page(after: number, most: number, columnBytes: number): DatasetSummary[] {
    return this.#database
      .all<SummaryRow>(PAGE, columnBytes, after, most)
      .map(({ columns, versionId, ...row }) => {
        if (columns === null) return { ...row, columnCount: this.#countColumns(versionId) }
        const parsed = JSON.parse(columns) as Column[]
        return { ...row, columnCount: parsed.length, columns: parsed }
      })
  }

  /** Versions never change, so that each is counted once. */
  #countColumns(versionId: number): number {
    let count = this.#columnCounts.get(versionId)
    if (count === undefined) {
      const sql = 'SELECT json_array_length(columns) AS count FROM versions WHERE id = ?'
      count = this.#database.get<{ count: number }>(sql, versionId)!.count
      this.#columnCounts.set(versionId, count)
    }
    return count
  }

  /** @throws EngineError `not_found` */
  get(id: number): DatasetRecord {
    return this.#database.recall(`dataset ${id}`, () => {
      const row = this.#database.get<Row>(`${SELECT} WHERE d.id = ?`, id)
      if (!row) throw new EngineError('not_found', `There is no dataset ${id}.`)
      return recordOf(row)
    })
  }

  update(id: number, fields: { name?: string; description?: string }): DatasetRecord {
    return this.#database.transaction(() => {
      const old = this.get(id)
      const name = fields.name === undefined ? old.name : checkName(fields.name, 'dataset')
      this.#named(name, () =>
        this.#database.run(
          'UPDATE datasets SET name = ?, description = ?, updated_at = ? WHERE id = ?',
          name,
          fields.description ?? old.description,
          now(),
          id,
        ),
      )
      return this.get(id)
    })
  }

  delete(id: number): void {
    if (this.#database.run('DELETE FROM datasets WHERE id = ?', id).changes === 0) {
      throw new EngineError('not_found', `There is no dataset ${id}.`)
    }
  }

  #named<T>(name: string, work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw new EngineError(
        'name_taken',
        `The repository already has a dataset named ${JSON.stringify(name)}.`,
      )
    }
  }
}

function recordOf(row: Row): DatasetRecord {
  return { ...row, columns: JSON.parse(row.columns) }
}
