import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { hintsIn, httpWords, inWords } from '../../engine/errors.ts'
import {
  type Database,
  EngineError,
  type Handle,
  type SavedQuery,
  type SqlValue,
} from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import type { Source } from '../records/index.ts'
import type { FollowedAddress } from './fetch-address.ts'
import { type Followed, nextRelease } from './followed.ts'

/** Files that are attached, as the operator named them. */
export interface FollowedFiles {
  readonly files: string
}

/** A query whose rows are stored. */
export interface FollowedQuery {
  readonly query: SavedQuery
  /** What its last refresh read of its table, and the version of the dataset that it made of this. */
  readonly read?: { readonly version: number; readonly rows: number; readonly into: number } | undefined
  /** How the last refresh that changed something was made. */
  readonly refresh?: NonNullable<Source['refresh']>
}

/** What a dataset follows, how often, and the state of its refreshes. Times are ISO 8601, UTC. */
export interface StoredSource {
  readonly datasetId: number
  /** The account that set the source; providers are asked on its behalf. */
  readonly accountId: number
  /** None where a file or a query is followed. */
  readonly series: readonly Followed[]
  readonly address: FollowedAddress | FollowedQuery | FollowedFiles | null
  readonly start: string | null
  readonly every: Source['every']
  /** The moment from which the schedule counts. */
  readonly since: string
  /** When the next run is due: at the scheduled time, or sooner if some series failed. */
  readonly due: string
  /** When all series are requested again. */
  readonly scheduled: string
  readonly lastRun: string | null
  /** With its options marked by `hint`. */
  readonly lastError: string | null
  /** The last version that a refresh made. */
  readonly lastVersion: number | null
  /** A hash of the rows of that version. */
  readonly digest: string | null
  /** How many runs in a row had failures. */
  readonly failures: number
}

/** A query whose rows are stored when its tables change. */
export interface StoredQuery {
  readonly datasetId: number
  readonly tables: readonly number[]
}

/** What a dataset is to follow. */
export type SourceRequest = Pick<StoredSource, 'datasetId' | 'accountId' | 'address' | 'start' | 'every'> & {
  readonly series: readonly string[]
}

/** What a run writes back to its source. */
export type Outcome = Pick<
  StoredSource,
  'series' | 'address' | 'due' | 'scheduled' | 'lastRun' | 'lastError' | 'failures'
>

interface SourceRow extends Omit<StoredSource, 'series' | 'address'> {
  readonly series: string
  readonly address: string | null
}

const COLUMNS = `dataset_id AS "datasetId", account_id AS "accountId", series, address, start_date AS "start", every, since, due,
  scheduled, last_run AS "lastRun", last_error AS "lastError", last_version AS "lastVersion", digest, failures`

/** By which token a source is taken, and until when. */
interface Taking {
  readonly now: Date
  readonly token: string
  readonly until: Date
}

interface Readers {
  /** @throws EngineError `saved_query` */
  requireReadable(query: SavedQuery): Promise<void>
}

/** Sources are not cached. */
const UNRECALLED = { changes: [] }

const UNTOLD = 'The query could not be read. The account that set it sees why.'

/**
 * The sources of datasets. A run takes a source until a certain time, with a token of its own. No other process can
 * take the source before that time. If another one takes it afterwards, the results of the first run are discarded.
 */
export class Sources {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  get(datasetId: number): Promise<StoredSource | undefined> {
    return read(this.#database, datasetId)
  }

  /**
   * What clients see of the source of a dataset. If a saved query may no longer be read, it says so before the next run.
   * @param accountId who looks at it: errors of a query tell values of rows that only its owner may surely read
   * @throws ServerError `not_followed`
   */
  async record(datasetId: number, readers: Readers, accountId?: number): Promise<Source> {
    const source = await this.get(datasetId)
    if (!source) throw notFollowed(datasetId)
    const { series, address, start, every, lastRun, due, lastVersion } = source
    const lost =
      address && 'query' in address
        ? await readers.requireReadable(address.query).then(
            () => null,
            (error: unknown) => {
              if (error instanceof EngineError && error.code === 'saved_query') return error.message
              throw error
            },
          )
        : null
    const isHidden =
      address && 'query' in address && accountId !== undefined && accountId !== source.accountId
    const lastError = lost ?? (isHidden ? source.lastError && UNTOLD : source.lastError)
    return {
      ...(address && 'query' in address && { query: address.query.given, refresh: address.refresh ?? null }),
      // The rest of the path is nobody's business but the operator's.
      ...(address && 'files' in address && { files: basename(address.files) }),
      ...(address && 'url' in address && { url: address.url, mode: address.mode, options: address.options }),
      series: series.map(({ id }) => id),
      start,
      every,
      lastRun,
      nextRun: due,
      ...(every === 'release' && { nextRelease: nextRelease(series) }),
      lastError: lastError && inWords(lastError, httpWords),
      hints: hintsIn(lastError ?? ''),
      missing: series.flatMap(({ id, error }) =>
        error === undefined
          ? []
          : [{ series: id, code: error.code, error: inWords(error.message, httpWords) }],
      ),
      lastVersion,
    }
  }

  /** Refuses rows of clients where the next refresh would remove them. @throws ServerError `follows_series` */
  async requireNone(datasetId: number): Promise<void> {
    const source = await this.get(datasetId)
    if (!source) return
    const { address } = source
    const kinds = { query: 'a saved query', files: 'attached files', url: 'a file' }
    const followed =
      Object.entries(kinds).find(([name]) => address && name in address)?.[1] ?? 'series of providers'
    throw new ServerError(
      'follows_series',
      `Dataset ${datasetId} follows ${followed}, and the next refresh would remove rows that you write into it. To ` +
        `stop following, use DELETE /datasets/${datasetId}/source, or parquetry source end ${datasetId}.`,
    )
  }

  /** Sets what a dataset follows, due now, and takes it in the same step. */
  async set(request: SourceRequest, at: Taking): Promise<StoredSource> {
    const { datasetId, accountId, address, start, every } = request
    const now = at.now.toISOString()
    return this.#database.transaction(async (t) => {
      // The source is taken before it is read. So a run that is just ending can't change it in between.
      const take = 'UPDATE dataset_sources SET taken_by = ?, taken_until = ? WHERE dataset_id = ?'
      await t.run(take, at.token, at.until.toISOString(), datasetId)
      const before = await read(t, datasetId)
      const found = new Map(before?.series.map((one) => [one.id, one.found]))
      const series = request.series.map((id) => ({ id, found: found.get(id) ?? [] }))
      // Who repeats what is followed already wants it now, but not the same rows again.
      const isSame = before !== undefined && isRepeated(before.address, address)
      const values = {
        dataset_id: datasetId,
        account_id: accountId,
        series: JSON.stringify(series),
        address: address && JSON.stringify(isSame ? before.address : address),
        digest: isSame ? before.digest : null,
        start_date: start,
        every,
        since: now,
        due: now,
        scheduled: now,
        failures: 0,
        taken_by: at.token,
        taken_until: at.until.toISOString(),
      }
      const names = Object.keys(values)
      await t.run(
        `INSERT INTO dataset_sources (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
       ON CONFLICT (dataset_id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
        ...Object.values(values),
      )
      return (await read(t, datasetId))!
    })
  }

  /** Removes the source of a dataset. @throws ServerError `not_followed` */
  async remove(datasetId: number): Promise<void> {
    const sql = 'DELETE FROM dataset_sources WHERE dataset_id = ?'
    if ((await this.#database.run(sql, datasetId)) === 0) throw notFollowed(datasetId)
  }

  /** Takes the source that has been due for longest and that nobody holds. */
  async take(at: Taking): Promise<StoredSource | undefined> {
    const now = at.now.toISOString()
    const sql = `UPDATE dataset_sources SET taken_by = ?, taken_until = ?
      WHERE taken_until <= ? AND due <= ? AND dataset_id = (
        SELECT dataset_id FROM dataset_sources WHERE taken_until <= ? AND due <= ? ORDER BY due, dataset_id LIMIT 1)
      RETURNING ${COLUMNS}`
    const until = at.until.toISOString()
    return this.#database.transaction(
      async (t) => sourceOf(await t.get<SourceRow>(sql, at.token, until, now, now, now, now)),
      UNRECALLED,
    )
  }

  /** The queries whose rows are stored when their tables change. */
  async storedOnChange(): Promise<StoredQuery[]> {
    const sql = `SELECT ${COLUMNS} FROM dataset_sources WHERE every = 'on-change'`
    const sources = (await this.#database.all<SourceRow>(sql)).map((row) => sourceOf(row)!)
    return sources.flatMap(({ datasetId, address }) =>
      address && 'query' in address ? [{ datasetId, tables: address.query.tables }] : [],
    )
  }

  /** Makes sources due now, except for those that have run lately: these are soon due. Gives how many are due. */
  hasten(datasetIds: readonly number[], now: Date): Promise<number> {
    const lately = new Date(now.getTime() - MILLISECONDS['on-change']).toISOString()
    return this.#note(
      `UPDATE dataset_sources SET due = ? WHERE dataset_id IN (${datasetIds.join(', ')}) AND last_run <= ?`,
      now.toISOString(),
      lately,
    )
  }

  /** Extends the time for which a source is taken. Gives false if another process has taken it, or it was removed. */
  async keep(datasetId: number, token: string, until: Date): Promise<boolean> {
    const sql = 'UPDATE dataset_sources SET taken_until = ? WHERE dataset_id = ? AND taken_by = ?'
    return (await this.#note(sql, until.toISOString(), datasetId, token)) > 0
  }

  /**
   * Records the version that a run has made. Call it in the transaction that makes the rows visible, so that both
   * happen or neither. Gives false if the source was removed or another process has taken it; then the rows must not be
   * shown.
   */
  async noteVersion(
    t: Handle,
    datasetId: number,
    { token, version, digest }: { token: string; version: number; digest: string },
  ): Promise<boolean> {
    const sql =
      'UPDATE dataset_sources SET last_version = ?, digest = ? WHERE dataset_id = ? AND taken_by = ?'
    return (await t.run(sql, version, digest, datasetId, token)) > 0
  }

  /** Releases a source. Without an outcome it stays as it was, because its run was aborted or failed. */
  async release(datasetId: number, token: string, outcome?: Outcome): Promise<void> {
    const changes = outcome && {
      series: JSON.stringify(outcome.series),
      address: outcome.address && JSON.stringify(outcome.address),
      due: outcome.due,
      scheduled: outcome.scheduled,
      last_run: outcome.lastRun,
      last_error: outcome.lastError,
      failures: outcome.failures,
    }
    const set = Object.keys(changes ?? {}).map((column) => `${column} = ?, `)
    await this.#note(
      `UPDATE dataset_sources SET ${set.join('')}taken_by = NULL, taken_until = '' WHERE dataset_id = ? AND taken_by = ?`,
      ...Object.values(changes ?? {}),
      datasetId,
      token,
    )
  }

  #note(sql: string, ...parameters: SqlValue[]): Promise<number> {
    return this.#database.transaction((t) => t.run(sql, ...parameters), UNRECALLED)
  }
}

function notFollowed(id: number): ServerError {
  return new ServerError(
    'not_followed',
    `Dataset ${id} follows neither series nor a file. To make it follow one, use PUT /datasets/${id}/source.`,
  )
}

/** Whether what is asked for was asked for before. */
function isRepeated(before: StoredSource['address'], address: StoredSource['address']): boolean {
  if (before && address && 'query' in before && 'query' in address)
    return isDeepStrictEqual(before.query, address.query)
  if (!before || !address || !('url' in before) || !('url' in address))
    return isDeepStrictEqual(before, address)
  const { url, mode, options } = before
  return isDeepStrictEqual({ ...address, options: { ...address.options } }, { url, mode, options })
}

async function read(handle: Handle, datasetId: number): Promise<StoredSource | undefined> {
  const sql = `SELECT ${COLUMNS} FROM dataset_sources WHERE dataset_id = ?`
  return sourceOf(await handle.get<SourceRow>(sql, datasetId))
}

function sourceOf(row: SourceRow | undefined): StoredSource | undefined {
  if (!row) return undefined
  const { series, address } = row
  return { ...row, series: JSON.parse(series), address: address === null ? null : JSON.parse(address) }
}

/** A query whose tables keep changing is run as often as sources are looked at. */
const MILLISECONDS = {
  'on-change': 10_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  // Where calendars could not be read.
  release: 86_400_000,
} as const
/** The wait after a first failure that may pass; it doubles with each further failure in a row. */
const FIRST_RETRY = 5 * 60_000

/**
 * The first moment after `now` that is a whole number of intervals after `since`. Runs that were missed while no server
 * ran are not made up for. In a month without the day of `since`, the last day of the month is used.
 */
export function nextRun(since: Date, every: Source['every'], now: Date): Date {
  if (every !== 'month') {
    const step = MILLISECONDS[every]
    const passed = Math.floor((now.getTime() - since.getTime()) / step)
    return new Date(since.getTime() + Math.max(1, passed + 1) * step)
  }
  const apart = (now.getUTCFullYear() - since.getUTCFullYear()) * 12 + now.getUTCMonth() - since.getUTCMonth()
  const next = monthsLater(since, Math.max(1, apart))
  return next > now ? next : monthsLater(since, apart + 1)
}

function monthsLater(since: Date, months: number): Date {
  const moment = new Date(since)
  moment.setUTCMonth(since.getUTCMonth() + months)
  // If the month has no such day, the date has moved into the next month; day 0 moves it back to the last day.
  if (moment.getUTCDate() !== since.getUTCDate()) moment.setUTCDate(0)
  return moment
}

/**
 * The time of the next try after a number of failures in a row, but never later than the scheduled run.
 * @param seconds how long the provider asks us to wait, if it says so
 */
export function retryRun(now: Date, failures: number, seconds: number | undefined, scheduled: Date): Date {
  const wait = Math.max(FIRST_RETRY * 2 ** Math.min(failures - 1, 12), 1000 * (seconds ?? 0))
  return new Date(Math.min(now.getTime() + wait, scheduled.getTime()))
}
