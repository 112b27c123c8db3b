import { EngineError, hint, invalidOption } from '../errors.ts'
import type { Handle, SqlValue } from './database.ts'
import type { Keep, Operation, Part } from './records.ts'

/** Who made a change and why; the engine only keeps both. */
export interface Authorship {
  readonly by?: string | undefined
  readonly note?: string | undefined
}

/** What a change did, as the list of versions tells it. */
export interface Change extends Authorship {
  readonly operation: Operation
  readonly addedRows: number
  readonly removedRows: number
}

export interface VersionRecord {
  readonly number: number
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** null where it was not told, as in versions of an older program; so are `operation`, `addedRows` and `removedRows`. */
  readonly by: string | null
  readonly operation: Operation | null
  readonly note: string | null
  readonly rowCount: number
  /** Bytes on disk. */
  readonly bytes: number
  /** Those of them that no other version has, so that they would be free without this one. */
  readonly ownBytes: number
  readonly addedRows: number | null
  readonly removedRows: number | null
}

export type FoundVersion = Pick<VersionRecord, 'number' | 'createdAt' | 'rowCount'>

/** Which past version is meant: by its number, or the one that was current at a moment. */
export type PastVersion = { readonly version: number } | { readonly asOf: string }

export const KEEP: Keep = { versions: 10, days: 30 }

const DAY_MS = 86_400_000

/** @throws EngineError `invalid_option` */
export function checkKeep({ versions = 1, days = 0 }: Partial<Keep>): void {
  const isCount = (value: number, least: number) => Number.isSafeInteger(value) && value >= least
  if (isCount(versions, 1) && isCount(days, 0) && days <= 36_525) return
  throw invalidOption(
    'keep says how many versions are kept, at least 1, and for how many days, from 0 to 36525, both as whole numbers.',
  )
}

/** A condition on `versions`: whether a version that its dataset no longer shows is still kept. */
export function retentionSql({ versions, days }: Keep): string {
  return `EXISTS (SELECT 1 FROM datasets d JOIN versions c ON c.id = d.version_id WHERE d.id = versions.dataset_id
    AND c.number - versions.number < coalesce(d.keep_versions, ${versions})
    AND versions.replaced_at > ${Date.now()} - coalesce(d.keep_days, ${days}) * ${DAY_MS})`
}

/**
 * The versions of a dataset that can be read. A merge leaves behind a version of the same number with other parts; it
 * was replaced at 0.
 */
const READABLE = `FROM versions v JOIN datasets d ON d.id = v.dataset_id
  WHERE d.id = ? AND (v.id = d.version_id OR v.replaced_at > 0)`

const OWN_BYTES = `(SELECT coalesce(sum(p.bytes), 0) FROM version_parts own JOIN parts p ON p.id = own.part_id
  WHERE own.version_id = v.id AND NOT EXISTS (SELECT 1 FROM part_ranges r
    JOIN versions o ON o.dataset_id = r.dataset_id AND o.id >= r.since AND o.id < r.until
    WHERE r.part_id = own.part_id AND o.id <> v.id AND (o.replaced_at IS NULL OR o.replaced_at > 0)))`

/** The versions of a dataset over time. */
export class History {
  readonly #handle: Handle
  readonly #keep: Keep

  /** @param keep how long versions of datasets stay that were given no other time */
  constructor(handle: Handle, keep: Keep) {
    this.#handle = handle
    this.#keep = keep
  }

  /** The same history, read in a transaction. */
  in(t: Handle): History {
    return new History(t, this.#keep)
  }

  /** Newest first. */
  list(
    datasetId: number,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<VersionRecord[]> {
    return this.#records(datasetId, 'ORDER BY v.id DESC LIMIT ? OFFSET ?', limit, offset)
  }

  /** The numbers of all versions, newest first. */
  async numbers(datasetId: number): Promise<number[]> {
    const sql = `SELECT v.number ${READABLE} ORDER BY v.number DESC`
    const retained = await this.#handle.all<{ number: number }>(sql, datasetId)
    return retained.map(({ number }) => number)
  }

  /**
   * How many rows a way back to a version writes and takes away: what the versions after it took away, and what they
   * wrote, so that a row that several of them changed counts more than once. null where one of them has no number.
   */
  async wayBack(datasetId: number, number: number): Promise<{ adds: number | null; removes: number | null }> {
    const sum = (column: string) =>
      `CASE WHEN count(${column}) = count(*) THEN CAST(coalesce(sum(${column}), 0) AS BIGINT) END`
    const found = await this.#handle.get<{ adds: number | null; removes: number | null }>(
      `SELECT ${sum('v.removed_rows')} AS adds, ${sum('v.added_rows')} AS removes ${READABLE} AND v.number > ?`,
      datasetId,
      number,
    )
    return found!
  }

  /** How many parts all versions have together. */
  async partCount(datasetId: number): Promise<number> {
    const parts = `SELECT DISTINCT part_id FROM version_parts WHERE version_id IN (SELECT v.id ${READABLE})`
    const found = await this.#handle.get<{ parts: number }>(
      `SELECT count(*) AS parts FROM (${parts}) p`,
      datasetId,
    )
    return Number(found!.parts)
  }

  /** @throws EngineError as `find` does */
  async get(datasetId: number, past: PastVersion): Promise<VersionRecord> {
    const { number } = await this.find(datasetId, past)
    const [found] = await this.#records(datasetId, 'AND v.number = ?', number)
    // It was removed since it was found.
    return found ?? this.get(datasetId, past)
  }

  /** The versions are chosen first, because the bytes of each take long to find. */
  #records(datasetId: number, where: string, ...parameters: SqlValue[]): Promise<VersionRecord[]> {
    return this.#handle.all<VersionRecord>(
      `SELECT v.number, v.created_at AS "createdAt", v.author AS "by", v.operation, v.note, v.rows AS "rowCount", v.bytes,
         CAST(${OWN_BYTES} AS BIGINT) AS "ownBytes", v.added_rows AS "addedRows", v.removed_rows AS "removedRows"
       FROM (SELECT v.* ${READABLE} ${where}) v ORDER BY v.id DESC`,
      datasetId,
      ...parameters,
    )
  }

  /**
   * The bytes of all parts that a dataset would hold with these parts as a further version, those of kept versions
   * included. Call it in a transaction that has locked the dataset.
   */
  async bytesWith(datasetId: number, parts: readonly Part[]): Promise<number> {
    const { versions, days } = this.#keep
    const retained = `FROM versions v JOIN datasets d ON d.id = v.dataset_id JOIN versions c ON c.id = d.version_id
      WHERE v.dataset_id = ? AND v.number > c.number + 1 - coalesce(d.keep_versions, ${versions})
        AND (v.id = c.id OR v.replaced_at > ${Date.now()} - coalesce(d.keep_days, ${days}) * ${DAY_MS})`
    // From the parts, not from the versions: those that wait for their removal may be hundreds, each with all its parts.
    const held = await this.#handle.all<{ id: number; bytes: number }>(
      `SELECT DISTINCT p.id, p.bytes FROM part_ranges r JOIN parts p ON p.id = r.part_id
       WHERE r.dataset_id = ? AND p.attached IS NULL AND r.until > (SELECT min(v.id) ${retained})
         AND EXISTS (SELECT 1 ${retained} AND v.id >= r.since AND v.id < r.until)`,
      datasetId,
      datasetId,
      datasetId,
    )
    const own = parts.filter(({ attached }) => !attached)
    const bytes = new Map([...held, ...own].map((part) => [part.id, part.bytes]))
    return [...bytes.values()].reduce((sum, each) => sum + each, 0)
  }

  /**
   * The number of a past version, and when it was made.
   * @throws EngineError `not_found` for a version that never was, `version_gone` for one that is no longer kept
   */
  async find(datasetId: number, past: PastVersion): Promise<FoundVersion> {
    const [where, ...values] = conditionFor(past)
    const found = await this.#handle.get<FoundVersion>(
      `SELECT v.number, v.created_at AS "createdAt", v.rows AS "rowCount" ${READABLE} ${where} ORDER BY v.number DESC LIMIT 1`,
      datasetId,
      ...values,
    )
    return found ?? (await this.#refuse(datasetId, past))
  }

  async #refuse(datasetId: number, past: PastVersion): Promise<never> {
    const numbers = (await this.numbers(datasetId)).slice(0, 1_000)
    const newest = numbers[0]
    if (newest === undefined) throw new EngineError('not_found', `There is no dataset ${datasetId}.`)
    if ('asOf' in past) {
      const born = await this.#handle.get<{ at: string }>(
        'SELECT created_at AS at FROM datasets WHERE id = ?',
        datasetId,
      )
      if (born !== undefined && momentOf(past.asOf) < Date.parse(born.at)) {
        throw new EngineError('not_found', `Dataset ${datasetId} was made only at ${born.at}.`)
      }
    } else if (!Number.isSafeInteger(past.version) || past.version < 0 || past.version > newest) {
      throw new EngineError(
        'not_found',
        `Dataset ${datasetId} has no version ${past.version}; the newest is ${newest}.`,
      )
    }
    const what =
      'asOf' in past
        ? `What dataset ${datasetId} held at ${past.asOf}`
        : `Version ${past.version} of dataset ${datasetId}`
    throw new EngineError('version_gone', `${what} is no longer kept. Kept versions: ${listed(numbers)}.`, {
      details: { kept: numbers },
    })
  }
}

/** Which of the readable versions is meant: a condition and its parameters. */
function conditionFor(past: PastVersion): [where: string, ...parameters: SqlValue[]] {
  if ('version' in past)
    return Number.isSafeInteger(past.version) ? ['AND v.number = ?', past.version] : ['AND false']
  const moment = momentOf(past.asOf)
  const isShown = 'AND v.created_at <= ? AND (v.id = d.version_id OR v.replaced_at > ?)'
  return [isShown, new Date(moment).toISOString(), moment]
}

/**
 * Milliseconds since 1970 of a date-time, or of the end of a date, in UTC unless it has an offset.
 * @throws EngineError `invalid_option`
 */
function momentOf(text: string): number {
  const [, date, clock, offset] =
    /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/.exec(text) ?? []
  const time = Date.parse(clock === undefined || offset !== undefined ? text : `${text}Z`)
  // JavaScript would read the 31st of February as the 2nd of March.
  const exists = date !== undefined && new Date(Date.parse(date)).toJSON()?.startsWith(date)
  if (exists && !Number.isNaN(time)) return clock === undefined ? time + DAY_MS - 1 : time
  throw invalidOption(
    `${hint('asOf')} is a date or a date-time, as 2024-01-31 or 2024-01-31T12:00:00Z; it is ${JSON.stringify(text)}.`,
  )
}

/** `12, 11, 8 to 5` for numbers that go down. */
function listed(numbers: readonly number[]): string {
  const runs: [number, number][] = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last !== undefined && last[1] === number + 1) last[1] = number
    else runs.push([number, number])
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`)).join(', ')
}
