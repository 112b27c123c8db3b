import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Database,
  type Engine,
  type MoveReport,
  migrate,
  moveIntoCluster,
  moveIntoDirectory,
  moveRows,
  restoreBackup,
} from '../../engine/index.ts'
import { SERVER_STEPS } from '../accounts/schema.ts'
import type { Config, ConfigArguments } from '../config/config.ts'
import { readConfig } from '../config/read.ts'
import { objectStore } from '../config/store-options.ts'
import { type Progress, startProgress } from './progress.ts'
import { UsageError } from './usage.ts'

/** `parquetry verify`: compares every part with the catalog. Returns whether there were no problems. */
export async function verify(engine: Engine): Promise<boolean> {
  using progress = startProgress(
    'verify',
    (await engine.datasets()).reduce((sum, one) => sum + one.bytes, 0),
  )
  const report = await engine.verify(({ bytes, parts, of }) => {
    progress.note(`${parts}/${of} parts`)
    progress.bytes(bytes)
  })
  progress[Symbol.dispose]()
  for (const { dataset, part, problem } of report.problems) {
    console.error(`dataset ${dataset}${part === undefined ? '' : `, part ${part}`}: ${problem}`)
  }
  console.log(
    `${report.datasets} datasets, ${report.parts} parts, ${report.rows} rows, ${report.bytes} bytes: ` +
      (report.problems.length === 0 ? 'all well' : `${report.problems.length} problems`),
  )
  return report.problems.length === 0
}

/**
 * `parquetry backup`: copies the data directory as it is at one moment, with the secret that decrypts the saved
 * provider keys.
 */
export async function backup(engine: Engine, data: string, directory: string): Promise<void> {
  using progress = startProgress(
    'backup',
    (await engine.datasets()).reduce((sum, one) => sum + one.bytes, 0),
  )
  const { parts, bytes, copied } = await engine.backup(directory, (done) => progress.bytes(done.bytes))
  copySecret(data, directory)
  progress[Symbol.dispose]()
  console.log(`${parts} parts, ${bytes} bytes; ${copied} of the parts are new in the copy`)
}

/** `parquetry restore`: copies a backup into a new data directory. */
export async function restore(from: string, { data, database }: Config): Promise<void> {
  if (database !== undefined) {
    throw new UsageError(
      'Backups are restored into a data directory: unset PARQUETRY_DATABASE and PARQUETRY_STORE. ' +
        'Use the tools of PostgreSQL to restore a database.',
    )
  }
  const { parts, bytes } = await restoreBackup(from, data)
  copySecret(from, data)
  console.log(`${parts} parts, ${bytes} bytes restored; all hashes match`)
}

function copySecret(from: string, to: string): void {
  const secret = join(from, 'secret')
  if (!existsSync(secret)) return
  copyFileSync(secret, join(to, 'secret'))
  chmodSync(join(to, 'secret'), 0o600)
}

/** `parquetry gc`: removes files that are no longer needed. */
export async function gc(engine: Engine): Promise<void> {
  const swept = await engine.gc()
  console.log(`${swept.files} files removed, ${swept.bytes} bytes; ${swept.processes} dead processes cleared`)
}

export interface MigrateOptions {
  readonly to?: string
  readonly store?: string
}

/** `parquetry migrate`: moves catalog and rows from the data directory to a database and an object store, or back. */
export async function migrateTo(place: ConfigArguments, { to, store }: MigrateOptions): Promise<void> {
  using progress = startProgress('migrate', undefined)
  const report = await move(place, { to, store }, progress)
  progress[Symbol.dispose]()
  console.log(
    `${report.parts} parts, ${report.bytes} bytes; ${report.copied} of the parts had to be copied.\n` +
      `The rows are now in ${report.to}. The files in ${report.from} are no longer needed; you can remove them.`,
  )
}

function move(
  place: ConfigArguments,
  { to, store }: MigrateOptions,
  progress: Progress,
): Promise<MoveReport> {
  const onProgress = ({ bytes, of }: { bytes: number; of: number }) =>
    progress.note(`${bytes} of ${of} bytes`)
  if (to === undefined && store === 'directory') {
    // Rows of a catalog in the directory, as earlier versions allowed.
    const {
      data,
      s3Endpoint: endpoint,
      s3Region: region,
      s3PathStyle: pathStyle,
    } = readConfig({ data: place.data })
    return moveRows(data, { target: undefined, from: { endpoint, region, pathStyle } }, onProgress)
  }
  if (to === undefined || (to !== 'directory' && (store ?? place.store) === undefined)) {
    throw new UsageError(
      'migrate takes --to postgres://… together with --store s3://…, or --to directory to come back from there.',
    )
  }
  const config = readConfig({
    ...place,
    database: to === 'directory' ? place.database : to,
    store: store ?? place.store,
  })
  const { data: directory, database } = config
  if (database === undefined) {
    throw new UsageError('Say where everything is: set PARQUETRY_DATABASE and PARQUETRY_STORE.')
  }
  const cluster = { database, store: objectStore(config)! }
  const prepare = async (catalog: Database) => {
    await migrate(catalog, 'server', SERVER_STEPS)
    await carrySecret(catalog, join(directory, 'secret'), to)
  }
  return to === 'directory'
    ? moveIntoDirectory({ directory, cluster, prepare, onProgress })
    : moveIntoCluster({ directory, cluster, prepare, onProgress })
}

/**
 * The generated secret is a file beside a catalog in a directory, and a row where nodes share the catalog. With
 * `PARQUETRY_SECRET` there is neither.
 */
async function carrySecret(catalog: Database, file: string, to: string): Promise<void> {
  const isSource = catalog.isShared === (to === 'directory')
  if (!isSource) return
  if (catalog.isShared) {
    const row = await catalog.get<{ value: string }>("SELECT value FROM secrets WHERE name = 'server'")
    if (row && !existsSync(file)) writeFileSync(file, row.value, { mode: 0o600, flush: true })
  } else if (existsSync(file)) {
    await catalog.run(
      `INSERT INTO secrets (name, value) VALUES ('server', ?)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      readFileSync(file, 'utf8'),
    )
  }
}
