import { chmodSync, copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Engine, moveRows, restoreBackup } from '../../engine/index.ts'
import type { Config } from '../config/config.ts'
import { objectStore } from '../config/store.ts'
import { startProgress } from './progress.ts'
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

/** `parquetry migrate`: moves the rows into an object store, or back into the data directory. */
export async function migrateRows(config: Config, store: string): Promise<void> {
  using progress = startProgress('migrate', undefined)
  const target = store === 'directory' ? undefined : { ...objectStore({ ...config, store })! }
  const { s3Endpoint: endpoint, s3Region: region, s3PathStyle: pathStyle } = config
  const report = await moveRows(
    config.data,
    { target, from: { endpoint, region, pathStyle } },
    ({ bytes, of }) => progress.note(`${bytes} of ${of} bytes`),
  )
  progress[Symbol.dispose]()
  console.log(
    `${report.parts} parts, ${report.bytes} bytes; ${report.copied} of the parts had to be copied.\n` +
      `The rows are now in ${report.to}. The files in ${report.from} are no longer needed; you can remove them.`,
  )
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
