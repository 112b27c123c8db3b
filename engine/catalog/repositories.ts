import { EngineError, invalidOption } from '../errors.ts'
import { isPlainText } from '../util/plain-text.ts'
import type { Handle } from './database.ts'
import type { Repository, RepositoryChanges } from './records.ts'

const LONGEST_NAME = 255

const SELECT = `SELECT id, name, description, created_at AS "createdAt", updated_at AS "updatedAt" FROM repositories`

export class Repositories {
  readonly #handle: Handle

  constructor(handle: Handle) {
    this.#handle = handle
  }

  /** The same repositories, read and written in a transaction, if there is one. */
  in(t: Handle | undefined): Repositories {
    return t ? new Repositories(t) : this
  }

  async create(fields: { name: string; description?: string }): Promise<Repository> {
    const at = new Date().toISOString()
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
    const row = Number.isSafeInteger(id)
      ? await this.#handle.get<Repository>(`${SELECT} WHERE id = ?`, id)
      : undefined
    if (!row) throw noRepository(id)
    return { ...row }
  }

  async update(id: number, fields: RepositoryChanges): Promise<Repository> {
    const name = fields.name === undefined ? null : checkName(fields.name, 'repository')
    const { description = null } = fields
    await this.#handle.run(
      `UPDATE repositories SET name = coalesce(?, name), description = coalesce(?, description), updated_at = ?
       WHERE id = ?`,
      name,
      description === null ? null : checkDescription(description),
      new Date().toISOString(),
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

/**
 * Gives the name unchanged if it is text of 1 to 255 characters, not blank and without control characters,
 * also those for the direction of text.
 * @throws EngineError `invalid_name`
 */
export function checkName(name: unknown, what: 'repository' | 'dataset'): string {
  if (typeof name !== 'string' || name.trim() === '') {
    throw new EngineError('invalid_name', `The name of a ${what} must be text that is not blank.`)
  }
  if (name.length > LONGEST_NAME) {
    throw new EngineError(
      'invalid_name',
      `The name of a ${what} has at most ${LONGEST_NAME} characters; this one has ${name.length}.`,
    )
  }
  if (/[\x00-\x1f\x7f]/.test(name) || !name.isWellFormed()) {
    throw new EngineError('invalid_name', `The name of a ${what} must not hold control characters.`)
  }
  const [control] = /\p{Bidi_Control}/u.exec(name) ?? []
  if (control !== undefined) {
    const code = control.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    throw new EngineError(
      'invalid_name',
      `The name of a ${what} must not hold U+${code}, a control character for the direction of text: with it, a name can look like another one.`,
    )
  }
  if (name === '.' || name === '..') {
    throw new EngineError('invalid_name', `A ${what} can't be called ${name}, which addresses leave out.`)
  }
  return name
}

/** Gives the description unchanged if every catalog can hold it. @throws EngineError `invalid_option` */
export function checkDescription(text: unknown): string {
  if (isPlainText(text)) return text
  throw invalidOption(
    'description must be text without control characters, such as U+0000, and without half characters.',
  )
}
