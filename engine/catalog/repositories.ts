import { EngineError } from '../errors.ts'
import type { Handle } from './database.ts'
import { checkDescription, checkName, isId, now } from './fields.ts'
import type { Repository } from './records.ts'

const SELECT = `SELECT id, name, description, created_at AS "createdAt", updated_at AS "updatedAt" FROM repositories`

export class Repositories {
  readonly #handle: Handle

  constructor(handle: Handle) {
    this.#handle = handle
  }

  async create(fields: { name: string; description?: string }): Promise<Repository> {
    const at = now()
    const id = await this.#handle.insert(
      'INSERT INTO repositories (name, description, created_at, updated_at) VALUES (?, ?, ?, ?)',
      checkName(fields.name, 'repository'),
      checkDescription(fields.description ?? ''),
      at,
      at,
    )
    return this.get(id)
  }

  async list(): Promise<Repository[]> {
    const rows = await this.#handle.all<Repository>(`${SELECT} ORDER BY id`)
    return rows.map((row) => ({ ...row }))
  }

  /** @throws EngineError `not_found` */
  async get(id: number): Promise<Repository> {
    const row = isId(id) ? await this.#handle.get<Repository>(`${SELECT} WHERE id = ?`, id) : undefined
    if (!row) throw noRepository(id)
    return { ...row }
  }

  async update(id: number, fields: { name?: string; description?: string }): Promise<Repository> {
    const name = fields.name === undefined ? null : checkName(fields.name, 'repository')
    const { description = null } = fields
    await this.#handle.run(
      `UPDATE repositories SET name = coalesce(?, name), description = coalesce(?, description), updated_at = ?
       WHERE id = ?`,
      name,
      description === null ? null : checkDescription(description),
      now(),
      id,
    )
    return this.get(id)
  }

  /** Deletes a repository with all its datasets. */
  async delete(id: number): Promise<void> {
    if ((await this.#handle.run('DELETE FROM repositories WHERE id = ?', id)) > 0) return
    throw noRepository(id)
  }
}

export function noRepository(id: number): EngineError {
  return new EngineError('not_found', `There is no repository ${id}.`)
}
