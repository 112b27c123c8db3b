import type { Part, Version } from '../catalog/records.ts'
import { EngineError, invalidOption } from '../errors.ts'
import type { Jobs } from '../ingest/jobs.ts'
import { faultsOf, withDetails } from '../ingest/text/errors.ts'
import { type EditPlan, editByKey, rowsOf } from '../store/edits.ts'
import type { Store } from '../store/store.ts'
import { keyPositions, sameColumns } from '../types/columns.ts'
import { TemporaryFile } from '../util/whole-file.ts'
import { changesBetween, type Found } from './changes.ts'

/**
 * Plans to take back what one version changed: rows that it inserted go, and those that it changed or deleted are again as
 * they were. Rows are found by the key.
 * @throws EngineError `column_conflict` without a key, or where columns or the key have changed; `rows_changed` where later
 * versions changed the same rows; `version_gone`, `not_found`
 */
export async function planUndo(
  store: Store,
  datasetId: number,
  number: number,
  signal: AbortSignal | undefined,
): Promise<EditPlan> {
  if (number < 1)
    throw invalidOption(`version must be at least 1 (got ${number}): no other one changed rows.`, 'version')
  using now = await store.members.take(datasetId)
  const { columns, key } = now.version
  const instead = `Restore version ${number - 1}, or edit the rows.`
  const refused = (why: string) =>
    new EngineError('column_conflict', `The change of version ${number} can't be undone: ${why}. ${instead}`)
  if (key.length === 0) throw refused('the dataset has no key, by which its rows are found')
  using after = await store.readPast(datasetId, { version: number })
  using before = await store.readPast(datasetId, { version: number - 1 })
  const isOther = (version: Version) =>
    !sameColumns(version.columns, columns) || String(version.key) !== String(key)
  if ([before, after].some(({ version }) => isOther(version)))
    throw refused('the columns or the key were others then')
  const on = keyPositions(key, columns)
  const own = await changesBetween(before.version, after.version, columns, store)
  const none = { mayHold: () => false, condition: { where: 'false', parameters: [] } }
  if (!own) return none
  const changed = new ChangedRows(store, now.version, signal)
  const touched = await changed.made(own, "c0 <> 'update_before'")
  const made = [...touched]
  try {
    const later = await changesBetween(after.version, now.version, columns, store)
    if (later) await changed.refuse(later, touched, on, number)
    const restored = await changed.made(own, "c0 IN ('delete', 'update_before')")
    made.push(...restored)
    return {
      ...editByKey(touched, columns, on, {}),
      instead: { made, parts: restored, base: now.version.id, number, rows: rowsOf(touched) },
    }
  } catch (error) {
    await store.commits.discard(made)
    throw error
  }
}

/** Writes rows that differ between versions. */
class ChangedRows {
  readonly #store: Store
  readonly #now: Version
  readonly #hooks: { readonly signal?: AbortSignal }

  constructor(store: Store, now: Version, signal: AbortSignal | undefined) {
    this.#store = store
    this.#now = now
    this.#hooks = signal ? { signal } : {}
  }

  /** As parts, which may have no rows. */
  async made(found: Found, where: string): Promise<readonly Part[]> {
    const { columns } = this.#now
    const write = async (jobs: Jobs, target: string) => {
      const input = this.#input(found, where)
      const written = await jobs.compare({ ...input, target }, this.#hooks)
      return { ...written, rawBytes: input.size.rawBytes, columns }
    }
    using _ = await this.#store.integrity.pinWhole(found.parts, this.#hooks.signal)
    return (await this.#store.commits.makeParts(write, this.#hooks)).parts
  }

  /** @throws EngineError `rows_changed` if rows that later versions changed have the keys of others */
  async refuse(later: Found, touched: readonly Part[], on: readonly number[], number: number): Promise<void> {
    const { integrity, temporary } = this.#store
    using _ = await integrity.pinWhole(later.parts, this.#hooks.signal)
    using others = await integrity.pinWhole(touched, this.#hooks.signal)
    await using file = new TemporaryFile(temporary)
    const { jobs } = await this.#store.ingestor()
    await jobs.compare({ ...this.#input(later, "c0 <> 'update_before'"), target: file.path }, this.#hooks)
    const found = await jobs.repeated({ parts: [file.path], on, like: others.files }, this.#hooks)
    if (found.length === 0) return
    const { key } = this.#now
    const errors = found.map(({ key: values }) => {
      const value = key.map((name, at) => `${name} = ${values[at] ?? 'null'}`).join(', ')
      const error = `The row with ${value} was changed again after version ${number}.`
      return new EngineError('rows_changed', error, { details: { value } })
    })
    const message = `${errors[0]!.marked.message} Undo the later change first, or edit the rows.`
    throw withDetails(
      errors[0]!,
      { columns: key, errors: errors.flatMap(({ marked }) => faultsOf(marked)) },
      message,
    )
  }

  #input({ sql, rows }: Found, where: string) {
    const { columns, rows: all, rawBytes } = this.#now
    const values = columns.map((_, index) => `c${index + 2} AS c${index}`).join(', ')
    const relation = `(SELECT ${values}, file_index, file_row_number FROM ${sql} WHERE ${where})`
    const size = { rows, rawBytes: rows * (all === 0 ? 0 : Math.ceil(rawBytes / all)) }
    return { parts: [], relation, columns, size }
  }
}
