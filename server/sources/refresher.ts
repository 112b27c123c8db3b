import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { httpWords, inWords } from '../../engine/errors.ts'
import { type Dataset, type Engine, EngineError, type Handle, type Upload } from '../../engine/index.ts'
import { hasDialect } from '../../engine/ingest/upload-format.ts'
import { fromHttp, optionTexts, READING } from '../../engine/options.ts'
import { pinnedOptions } from '../../engine/store/upload-options.ts'
import type { Access, RepositoryAccess } from '../accounts/access.ts'
import type { Account, Accounts } from '../accounts/accounts.ts'
import { ServerError } from '../http/errors.ts'
import { uploadOptions } from '../transfers/formats.ts'
import { type CallerParts, callerOf } from './caller.ts'
import {
  errorPage,
  FetchFailure,
  type FollowedAddress,
  fetchAddress,
  isErrorPage,
  withOtherTypes,
} from './fetch-address.ts'
import type { Followed } from './followed.ts'
import { isLoss, lossOf } from './losses.ts'
import type { Network } from './networks.ts'
import { afterReleases, isDue } from './releases.ts'
import {
  type Answer,
  ask,
  holdsSeriesAlone,
  newRows,
  requireSeriesAlone,
  seriesColumns,
  shapeOf,
} from './series-rows.ts'
import {
  type FollowedFiles,
  type FollowedQuery,
  nextRun,
  type Outcome,
  retryRun,
  type SourceRequest,
  type Sources,
  type StoredSource,
} from './sources.ts'
import { storeQuery, Unchanged } from './stored-query.ts'
import { TableWatch } from './table-watch.ts'
import { fileOptions } from './wanted.ts'

/** How often a process looks for sources that are due. */
const POLL_MS = 10_000
/** How long a process may hold a source. A process that still works on it extends the time before it ends. */
const TAKEN_MS = 120_000
/** How long a request waits for the first refresh. */
const PATIENCE_MS = 10_000
/** How many refreshes run at once in this process. */
const AT_ONCE = 2
/** How many errors `lastError` names; the others are only counted. */
const MOST_NAMED = 3

export interface RefresherParts extends CallerParts {
  readonly engine: Engine
  readonly accounts: Accounts
  readonly access: Access
  readonly sources: Sources
  readonly now: () => Date
  /** Replaced in tests. */
  readonly network?: Network | undefined
  /** In place of `PATIENCE_MS`. */
  readonly patienceMs?: number | undefined
  /** Called with failures, whose causes are told if they are internal. */
  readonly warn: (message: string, cause?: unknown) => void
}

/** A refresh under way. Only who has the token of the source may write it. */
interface Run {
  readonly source: StoredSource
  readonly token: string
  readonly signal: AbortSignal
  /** On whose behalf the source is read. */
  readonly account: Account
  readonly dataset: Dataset
  /** Whose plan counts for the rows. */
  readonly owner: RepositoryAccess['owner']
  /** Whether rows may be lost. */
  readonly confirmed: boolean
}

/** Thrown if a run finds that it no longer holds its source. Its rows are then not made visible. */
class Superseded extends Error {}

/** Refreshes datasets that follow something, each on its schedule. Several processes may do so at the same time. */
export class Refresher {
  readonly #parts: RefresherParts
  readonly #ending = new AbortController()
  readonly #running = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: RefresherParts) {
    this.#parts = parts
  }

  /** Begins to look for due sources regularly. */
  start(): void {
    const look = () => {
      this.runDue().catch((cause) =>
        this.#parts.warn('Looking up the datasets that are due for a refresh failed.', cause),
      )
    }
    this.#timer = setInterval(look, POLL_MS).unref()
    look()
    void new TableWatch(this.#parts).run(look, this.#ending.signal)
  }

  /** Refreshes all due sources, a few at a time; gives how many there were. */
  async runDue(): Promise<number> {
    let count = 0
    while (!this.#ending.signal.aborted) {
      while (this.#running.size >= AT_ONCE) await Promise.race(this.#running)
      const token = randomUUID()
      const source = await this.#parts.sources.take({ token, ...this.#taking() })
      if (source === undefined) break
      count += 1
      void this.#run(source, token)
    }
    await Promise.all(this.#running)
    return count
  }

  /**
   * Sets what a dataset follows, and starts the first refresh at once; `done` resolves when that has ended.
   * @param confirmed whether this refresh may leave far fewer rows than there are, or none
   */
  async follow(requested: SourceRequest, confirmed = false): Promise<{ readonly done: Promise<void> }> {
    const dataset = await this.#parts.engine.dataset(requested.datasetId)
    // Declares the columns at once, so that they are visible even if the first run brings no rows. If that fails, the
    // dataset must not follow anything.
    if (!requested.address && (await dataset.record()).columns.length === 0) {
      await dataset.declareColumns(seriesColumns({ provider: false, times: false }))
    }
    const token = randomUUID()
    const source = await this.#parts.sources.set(requested, { token, ...this.#taking() })
    return { done: this.#run(source, token, confirmed) }
  }

  /** The same, and waits for the first refresh, which goes on if it takes long. */
  async followNow(requested: SourceRequest, confirmed: boolean): Promise<void> {
    const { done } = await this.follow(requested, confirmed)
    const { patienceMs = PATIENCE_MS } = this.#parts
    await Promise.race([done, delay(patienceMs, undefined, { ref: false })])
  }

  /** Aborts the refreshes that run, so that another process can take their sources. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#ending.abort()
    await Promise.all(this.#running)
  }

  #taking() {
    const now = this.#parts.now()
    return { now, until: new Date(now.getTime() + TAKEN_MS) }
  }

  #run(source: StoredSource, token: string, confirmed = false): Promise<void> {
    const run = this.#runOne(source, token, confirmed)
      .catch((cause) => this.#parts.warn(`Dataset ${source.datasetId} could not be refreshed.`, cause))
      .finally(() => this.#running.delete(run))
    this.#running.add(run)
    return run
  }

  async #runOne(source: StoredSource, token: string, confirmed: boolean): Promise<void> {
    const { sources } = this.#parts
    const stop = new AbortController()
    const signal = AbortSignal.any([this.#ending.signal, stop.signal])
    const keep = setInterval(() => {
      sources.keep(source.datasetId, token, this.#taking().until).then(
        (isOurs) => !isOurs && stop.abort(),
        // If this fails, the source is still ours until the time ends, and the commit checks it again.
        () => undefined,
      )
    }, TAKEN_MS / 4).unref()
    try {
      const outcome = await this.#refresh({ source, token, signal, confirmed })
      await sources.release(source.datasetId, token, outcome)
      if (outcome.lastError !== null)
        this.#parts.warn(
          `Dataset ${source.datasetId} could not be refreshed: ${inWords(outcome.lastError, httpWords)}`,
        )
    } catch (error) {
      if (stop.signal.aborted || error instanceof Superseded) return
      await sources.release(source.datasetId, token)
      if (!this.#ending.signal.aborted) throw error
    } finally {
      clearInterval(keep)
    }
  }

  async #refresh(started: Pick<Run, 'source' | 'token' | 'signal' | 'confirmed'>): Promise<Outcome> {
    const { source, signal, confirmed } = started
    const { series, address } = source
    const now = this.#parts.now()
    const isWhole = source.scheduled <= now.toISOString()
    let scheduled = isWhole ? nextRun(new Date(source.since), source.every, now) : new Date(source.scheduled)
    const outcome = (due: Date, rest: Pick<Outcome, 'series' | 'address' | 'lastError' | 'failures'>) => ({
      lastRun: now.toISOString(),
      due: due.toISOString(),
      scheduled: scheduled.toISOString(),
      ...rest,
    })
    try {
      const run = await this.#begin(started)
      if (address) {
        const read = await this.#readAddress(run, address)
        return outcome(scheduled, { series, address: read, lastError: null, failures: 0 })
      }
      const answers = await this.#ask(run, isWhole)
      const rows = await newRows(source, answers, run.dataset, confirmed)
      await this.#write(run, rows, answers)
      const places = { connectors: await this.#parts.connectors(), callerOf: this.#callerOf(run), now }
      const next =
        source.every === 'release' ? await afterReleases(source.series, rows.followed, answers, places) : rows
      if ('due' in next) scheduled = next.due
      const failed = rows.followed.filter(({ error }) => error !== undefined)
      const failures = failed.length > 0 ? source.failures + 1 : 0
      const waits = [...answers.values()].filter(({ error }) => error?.passes)
      const wait = Math.max(0, ...waits.map(({ retryAfter = 0 }) => retryAfter))
      const isTriedSoon = waits.length > 0 || rows.hasLosses
      const due = isTriedSoon ? retryRun(now, failures, wait, scheduled) : scheduled
      const lastError = sentence(failed) ?? ('failure' in next ? next.failure : null)
      return outcome(due, { series: next.followed, address, lastError, failures })
    } catch (error) {
      // The account lacks a permission, or the dataset can't hold the rows. Both may have changed by the next run.
      const isExpected =
        error instanceof ServerError || error instanceof EngineError || error instanceof FetchFailure
      if (!isExpected || signal.aborted) throw error
      const failures = source.failures + 1
      // A file may still be written.
      const isTriedSoon = error instanceof FetchFailure || /^(fewer_rows|invalid_file)$/.test(error.code)
      const due = isTriedSoon ? retryRun(now, failures, undefined, scheduled) : scheduled
      const lastError = error instanceof EngineError ? error.marked.message : error.message
      return outcome(due, { series, address, lastError, failures })
    }
  }

  /** @throws ServerError `forbidden` if the account that set the source may no longer write the dataset */
  async #begin(started: Pick<Run, 'source' | 'token' | 'signal' | 'confirmed'>): Promise<Run> {
    const { accounts, access, engine } = this.#parts
    const { source } = started
    const account = await accounts.get(source.accountId)
    if (account.disabled) {
      throw new ServerError('forbidden', `The account ${account.name}, which set the source, is disabled.`)
    }
    const dataset = await engine.dataset(source.datasetId)
    const { repositoryId } = await dataset.record()
    const { owner } = await access.require(repositoryId, account, 'Write')
    return { ...started, account, dataset, owner }
  }

  /**
   * Requests the series that are due at a scheduled run, otherwise only those that failed before. Those come first, in
   * case a limit does not suffice for all.
   */
  async #ask(run: Run, isWhole: boolean): Promise<ReadonlyMap<string, Answer>> {
    const { source, signal } = run
    const now = this.#parts.now()
    const isMissing = ({ error }: Followed) => error !== undefined
    const requested = source.series.filter((one) => (isWhole && isDue(one, now)) || isMissing(one))
    const missingFirst = requested.toSorted((a, b) => Number(isMissing(b)) - Number(isMissing(a)))
    return ask(await this.#parts.connectors(), missingFirst, source.start, this.#callerOf(run), signal)
  }

  #callerOf({ account, signal }: Run) {
    return async (slug: string) => (await callerOf(this.#parts, account, slug, signal)).caller
  }

  #readAddress(run: Run, address: NonNullable<StoredSource['address']>) {
    if ('query' in address) return this.#storeQuery(run, address)
    return 'files' in address ? this.#attach(run, address) : this.#readFile(run, address)
  }

  /** Writes the rows of a file, unless its bytes are those of the last time. Gives what is known of it now. */
  async #readFile(run: Run, address: FollowedAddress): Promise<FollowedAddress> {
    const { source, signal, dataset } = run
    const { version, rowCount, columns, uploadOptions: stored } = await dataset.record()
    // If others have changed the rows, they are put back, even though the file has not changed.
    const isThere = address.mode !== 'replace' || version === source.lastVersion
    const known = isThere ? address : { url: address.url }
    const file = await fetchAddress(known, this.#parts.config, signal, this.#parts.network)
    if (!file) return address
    const { format, gzip, etag, lastModified, body } = file
    const options = fromHttp(address.options, fileOptions(address.mode))
    const isNew = address.mode === 'replace' && rowCount === 0 && holdsSeriesAlone(columns)
    // Where an earlier upload was read in some way, this one is read so, too.
    const chooses = options.dialect === undefined && !stored && hasDialect(format)
    const upload = {
      ...uploadOptions(chooses ? { dialect: 'auto', ...options } : options),
      ...('on' in options && { on: options.on }),
      // What would have been columns of series.
      ...(isNew && { replaceColumns: true }),
      ...{ format, gzip, body },
    }
    const read = { ...address, etag, lastModified }
    try {
      const { options: chosen } = await dataset[address.mode]({
        ...upload,
        ...this.#writing(
          run,
          () => {
            const digest = file.digest()
            if (isThere && digest === source.digest) throw new Unchanged()
            return digest
          },
          ' in the file',
        ),
      })
      if (!chooses) return read
      // Later files are read with all of them.
      const found = optionTexts(pinnedOptions(chosen ?? {}, options), READING)
      return { ...read, options: { ...address.options, ...found } }
    } catch (error) {
      if (error instanceof Unchanged) return read
      throw isErrorPage(error) ? errorPage(address.url, error) : withOtherTypes(error, address)
    }
  }

  #storeQuery(run: Run, followed: FollowedQuery): Promise<FollowedQuery> {
    const { engine, plans } = this.#parts
    return storeQuery(followed, {
      ...run,
      engine,
      cpuSeconds: plans.limits(run.owner.plan).refreshSeconds ?? undefined,
      writing: (digest) => this.#writing(run, digest),
    })
  }

  /** Attaches files as they are now. If they are as before, that makes no version. */
  async #attach(run: Run, followed: FollowedFiles): Promise<FollowedFiles> {
    const { source, token, signal, account, dataset } = run
    const accept = async (version: number, t: Handle) => {
      const taken = await this.#parts.sources.noteVersion(t, source.datasetId, { token, version, digest: '' })
      if (!taken) throw new Superseded()
    }
    await dataset.attach(followed.files, { signal, by: account.name, isRefresh: true, accept })
    return followed
  }

  /**
   * How a run writes rows: they become visible if the plan allows them and the run still holds the source.
   * @param where the end of a sentence about rows of a file, of which there must not be far fewer than before
   */
  #writing(run: Run, digestNow: (made: { readonly rows: number }) => string, where?: string) {
    const { source, token, signal, account, dataset, owner, confirmed } = run
    const { access, plans, sources } = this.#parts
    const accept: Upload['accept'] = async (made, t) => {
      const digest = digestNow(made)
      await plans.allowContent(owner, access.in(t), made, dataset.id)
      const { version: last, rowCount } = await dataset.record(t)
      if (where !== undefined && !confirmed && isLoss(made.rows, rowCount ?? 0))
        throw lossOf('row', where, made.rows, rowCount ?? 0)
      const [empty] = made.emptied ?? []
      if (where !== undefined && !confirmed && empty)
        throw lossOf('value', ` of ${JSON.stringify(empty.name)}${where}`, 0, empty.values)
      const version = last + 1
      if (!(await sources.noteVersion(t, source.datasetId, { token, version, digest })))
        throw new Superseded()
    }
    return { signal, by: account.name, isRefresh: true, accept } as const
  }

  /** Replaces the dataset's rows, unless they have not changed or all requests failed. */
  async #write(
    run: Run,
    { columns, lines, digest }: Awaited<ReturnType<typeof newRows>>,
    answers: ReadonlyMap<string, Answer>,
  ): Promise<void> {
    const { source, dataset } = run
    const record = await dataset.record()
    const hasNothingNew = [...answers.values()].every(({ error }) => error !== undefined)
    const isSame = digest === source.digest && record.version === source.lastVersion
    if (hasNothingNew || isSame) return
    requireSeriesAlone(record)
    await dataset.replace({
      format: 'ndjson',
      columns,
      replaceColumns: shapeOf(record.columns) !== shapeOf(columns),
      body: bytesOf(lines),
      ...this.#writing(run, () => digest),
    })
  }
}

function sentence(failed: readonly Followed[]): string | null {
  if (failed.length === 0) return null
  const named = failed.slice(0, MOST_NAMED).map(({ id, error }) => `${id}: ${error!.message}`)
  return named.join(' ') + (failed.length > MOST_NAMED ? ` And ${failed.length - MOST_NAMED} more.` : '')
}

async function* bytesOf(lines: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const line of lines) yield Buffer.from(line)
}
