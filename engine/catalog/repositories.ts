import { EngineError } from '../errors.ts'
import type { Database } from './database.ts'
import { checkName, now } from './fields.ts'
import type { Repository } from './records.ts'

const SELECT = `SELECT id, name, description, created_at AS createdAt, updated_at AS updatedAt FROM repositories`

export class Repositories {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  create(fields: { name: string; description?: string }): Repository {
    const at = now()
    const { id } = this.#database.run(
      'INSERT INTO repositories (name, description, created_at, updated_at) VALUES (?, ?, ?, ?)',
      checkName(fields.name, 'repository'),
      fields.description ?? '',
      at,
      at,
    )
    return this.get(id)
  }

  list(): Repository[] {
    return this.#database.all<Repository>(`${SELECT} ORDER BY id`).map((row) => ({ ...row }))
  }

  /** @throws EngineError `not_found` */
  get(id: number): Repository {
    const row = this.#database.get<Repository>(`${SELECT} WHERE id = ?`, id)
    if (!row) throw new EngineError('not_found', `There is no repository ${id}.`)
    return { ...row }
  }

  update(id: number, fields: { name?: string; description?: string }): Repository {
    const old = this.get(id)
    this.#database.run(
      'UPDATE repositories SET name = ?, description = ?, updated_at = ? WHERE id = ?',
      fields.name === undefined ? old.name : checkName(fields.name, 'repository'),
      fields.description ?? old.description,
      now(),
      id,
    )
    return this.get(id)
  }

  /** With its datasets. */
  delete(id: number): void {
    this.get(id)
    this.#database.run('DELETE FROM repositories WHERE id = ?', id)
  }
}
