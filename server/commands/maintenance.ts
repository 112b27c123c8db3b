import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import {
  type BackupReport,
  type Database,
  type Engine,
  EngineError,
  type MoveReport,
  migrate,
  moveIntoCluster,
  moveIntoDirectory,
  moveRows,
  restoreBackup,
  restoreIntoCluster,
} from '../../engine/index.ts'
import { counted } from '../../engine/util/counted.ts'
import { Accounts } from '../accounts/accounts.ts'
import { unnamedPlans } from '../accounts/plans.ts'
import { SERVER_STEPS } from '../accounts/schema.ts'
import { ParquetryError } from '../client/index.ts'
import { objectStore, readConfig, s3Access } from '../config/read.ts'
import { type Progress, startProgress } from './progress.ts'
import type { Workplace } from './tables/local.ts'
import { findDataset } from './tables/tables.ts'
import { abortOnInterrupt, Failed, inFlags, inRows, shellWord, UsageError, wholeNumber } from './usage.ts'
import type { StorageOptions, Target } from './workplace.ts'

const inParts = (parts: number, bytes: number) => `${counted(parts, 'part')}, ${counted(bytes, 'byte')}`

export function addMaintenanceCommands(program: Command, target: Target): void {
  program
    .command('verify')
    .description('read every part and compare it with the catalog; Ctrl-C says how to go on later')
    .option('--from <dataset>', 'the id of the first dataset to read', (text) => wholeNumber('--from', text))
    .action((options: { from?: number }) => target.directory(({ engine }) => verify(engine, options)))

  program
    .command('backup <directory>')
    .description(
      'copy the catalog and all rows as of one point in time into a folder, even while servers run; an existing copy is updated',
    )
    .action((directory: string) => target.directory((workplace) => backup(workplace, directory)))

  program
    .command('restore <what> [version]')
    .description(
      'copy a backup into a new data directory, or an empty database and store; with a version, make that version of a dataset current again',
    )
    .option('--note <text>', 'why, for the list of versions')
    .action(async (what: string, version: string | undefined, { note }: { note?: string }) => {
      if (version === undefined) return restore(what, target)
      const number = wholeNumber('version', version)
      await target.tables(async (tables) => {
        const { id } = await findDataset(tables, what)
        const restored = await tables.datasets.restore(id, number, { note })
        console.log(`dataset ${id}: version ${restored.version} has the rows of version ${number}`)
      })
    })

  program
    .command('undo <dataset> <version>')
    .description(
      'take back what one version of a dataset with a key changed, unless later versions changed the same rows',
    )
    .option('--note <text>', 'why, for the list of versions')
    .action(async (dataset: string, version: string, { note }: { note?: string }) => {
      const number = wholeNumber('version', version)
      await target.tables(async (tables) => {
        const { id } = await findDataset(tables, dataset)
        const undone = await tables.datasets.undo(id, number, { note }).catch((error: unknown) => {
          throw withRestore(error, dataset, number)
        })
        console.log(
          `dataset ${id}: version ${undone.version} has ${inRows(undone.matchedRows)} as before version ${number}`,
        )
      })
    })

  program
    .command('edit <dataset> <values...>')
    .description(
      'set columns of the rows that match a filter: price=3.5 note=late; after a second = is an expression (price==price mul 2), after none null',
    )
    .requiredOption('--filter <text>', 'the rows, as an OData 4.01 expression, for example id eq 7')
    .option('--note <text>', 'why, for the list of versions')
    .action(
      async (dataset: string, values: string[], { filter, note }: { filter: string; note?: string }) => {
        const set = Object.fromEntries(values.map(assignment))
        await target.tables(async (tables) => {
          const { id } = await findDataset(tables, dataset)
          const { version, matchedRows } = await tables.datasets.editRows(id, filter, set, { note })
          console.log(`dataset ${id}: ${counted(matchedRows, 'row')} changed; version ${version}`)
        })
      },
    )

  program
    .command('migrate')
    .description(
      'move everything between the data directory and a database with an object store; continues after an interruption',
    )
    .option('--to <where>', 'postgres://… with --store s3://…, or "directory" to come back from there')
    .option('--store <where>', 's3://bucket/prefix; "directory" brings back rows alone')
    .action((options: MigrateOptions) => migrateTo(target.storage, options))

  program
    .command('gc')
    .description('remove files that are no longer needed; not while a server runs')
    .action(() => target.directory(({ engine }) => gc(engine)))
}

/** The error of an undo for which rows can't be found, with the command that takes back whole versions. */
function withRestore(error: unknown, dataset: string, version: number): unknown {
  const isKnown = error instanceof EngineError || error instanceof ParquetryError
  if (!isKnown || error.code !== 'column_conflict') return error
  const restore = `parquetry restore ${shellWord(dataset)} ${version - 1}`
  return new Failed(
    `${inFlags(error)} \`${restore}\` takes back this version and all later ones, and keeps them in the list.`,
  )
}

/** A column and its new value: text, of which the column's type makes a value. */
function assignment(text: string): [name: string, value: string | null] {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`${shellWord(text)} is no value of a column: write name=value.`)
  return [text.slice(0, at), text.slice(at + 1) || null]
}

/** `parquetry verify`: compares parts with the catalog. @throws Failed if there are problems, or if it was stopped */
async function verify(engine: Engine, { from = 1 }: { from?: number }): Promise<void> {
  const datasets = (await engine.datasets()).filter(({ id }) => id >= from)
  using interrupt = abortOnInterrupt()
  using progress = startProgress(
    'verify',
    datasets.reduce((sum, one) => sum + one.bytes, 0),
  )
  const onProgress = ({ bytes, parts, of }: { bytes: number; parts: number; of: number }) => {
    progress.note(`${parts}/${of} parts`)
    progress.bytes(bytes)
  }
  const report = await engine.verify(onProgress, { from, signal: interrupt.signal })
  progress[Symbol.dispose]()
  for (const { dataset, part, problem } of report.problems) {
    console.error(`dataset ${dataset}${part === undefined ? '' : `, part ${part}`}: ${problem}`)
  }
  for (const { dataset, part, note } of report.notes) console.log(`dataset ${dataset}, part ${part}: ${note}`)
  console.log(
    `${counted(report.datasets, 'dataset')}, ${counted(report.parts, 'part')} of all versions, ${inRows(report.rows)}, ${counted(report.bytes, 'byte')}: ` +
      (report.problems.length === 0 ? 'all well' : counted(report.problems.length, 'problem')),
  )
  if (report.next !== undefined) console.error(`Stopped. Go on with: parquetry verify --from ${report.next}`)
  if (report.problems.length > 0 || report.next !== undefined) throw new Failed()
}

/** In a backup: the plans of its accounts, as a file of configuration. */
const PLANS_FILE = 'plans.json'

/**
 * `parquetry backup`: copies all as it is at one moment, with the secret that decrypts the saved provider keys and the
 * limits of the plans that accounts have.
 */
async function backup({ engine, config }: Workplace, directory: string): Promise<void> {
  using progress = startProgress(
    'backup',
    (await engine.datasets()).reduce((sum, one) => sum + one.bytes, 0),
  )
  const { parts, bytes, copied, attached } = await engine.backup(directory, {
    onProgress: (done) => progress.bytes(done.bytes),
    prepare: makeTables,
  })
  if (engine.database.isShared) await writeSecret(engine.database, join(directory, 'secret'))
  else copySecret(config.data, directory)
  const accounts = await new Accounts(engine.database).list()
  const plans = Object.fromEntries(
    Object.entries(config.plans).filter(([name]) => accounts.some(({ plan }) => plan === name)),
  )
  writeFileSync(join(directory, PLANS_FILE), `${JSON.stringify({ plans }, null, 2)}\n`)
  progress[Symbol.dispose]()
  for (const { name, plan } of unnamedPlans(accounts, config.plans)) {
    console.error(
      `parquetry: account ${name} has the plan ${plan}, whose limits the copy lacks, because this command does not know ` +
        'them: run it with the PARQUETRY_CONFIG of the server.',
    )
  }
  console.log(`${inParts(parts, bytes)}; ${copied} of the parts are new in the copy`)
  sayAttached(attached)
}

/** `parquetry restore`: copies a backup into a new data directory, or into an empty database and store. */
async function restore(from: string, target: Target): Promise<void> {
  if (target.isRemote || !existsSync(from)) {
    const problem = target.isRemote
      ? 'Restoring a backup works on a data directory'
      : `There is no folder ${from}`
    throw new UsageError(
      `${problem}. To go back to a version of a dataset, give its number, which \`parquetry versions ${from}\` lists.`,
    )
  }
  const config = readConfig(target.storage)
  const { data, database } = config
  if (database === undefined) {
    const { parts, bytes, attached } = await restoreBackup(from, data)
    copySecret(from, data)
    console.log(`${inParts(parts, bytes)} restored; all hashes match`)
    sayAttached(attached)
    return target.directory((restored) => namePlans(restored, from))
  }
  const { parts, bytes, to } = await restoreIntoCluster(from, {
    directory: data,
    cluster: { database, store: objectStore(config)! },
    prepare: async (catalog) => {
      await makeTables(catalog)
      if (!catalog.isShared) await readSecret(catalog, join(from, 'secret'))
    },
  })
  console.log(`${inParts(parts, bytes)} restored into ${to}; all hashes match`)
  await target.directory((restored) => namePlans(restored, from))
}

/** Says which plans a server with this configuration would miss, and where they are. */
async function namePlans({ engine, config }: Workplace, from: string): Promise<void> {
  const missing = unnamedPlans(await new Accounts(engine.database).list(), config.plans)
  for (const { name, plan } of missing)
    console.error(`parquetry: account ${name} has the plan ${plan}, which is not configured here.`)
  if (missing.length === 0) return
  const file = join(from, PLANS_FILE)
  console.error(
    existsSync(file)
      ? `parquetry: a server starts only with these plans. Those of the backup are in ${file}: set PARQUETRY_CONFIG to it, or copy its plans into your configuration.`
      : 'parquetry: a server starts only with these plans: add them to the configuration.',
  )
}

/** Says which files must be there besides those that were copied. */
function sayAttached(attached: BackupReport['attached']): void {
  for (const { folder, files, bytes } of attached) {
    console.log(
      `${counted(files, 'attached file')}, ${counted(bytes, 'byte')}, not copied: the data needs them in ${folder}`,
    )
  }
}

async function makeTables(catalog: Database): Promise<void> {
  await migrate(catalog, 'server', SERVER_STEPS)
}

function copySecret(from: string, to: string): void {
  const secret = join(from, 'secret')
  if (!existsSync(secret)) return
  copyFileSync(secret, join(to, 'secret'))
  chmodSync(join(to, 'secret'), 0o600)
}

async function gc(engine: Engine): Promise<void> {
  const swept = await engine.gc()
  console.log(
    `${counted(swept.files, 'file')} removed, ${counted(swept.bytes, 'byte')}; ${counted(swept.processes, 'dead process', 'dead processes')} cleared`,
  )
}

interface MigrateOptions {
  readonly to?: string
  readonly store?: string
}

/** `parquetry migrate`: moves catalog and rows from the data directory to a database and an object store, or back. */
async function migrateTo(storage: StorageOptions, { to, store }: MigrateOptions): Promise<void> {
  using progress = startProgress('migrate', undefined)
  const report = await move(storage, { to, store }, progress)
  progress[Symbol.dispose]()
  console.log(
    `${inParts(report.parts, report.bytes)}; ${report.copied} of the parts had to be copied.\n` +
      `The rows are now in ${report.to}. The files in ${report.from} are no longer needed; you can remove them.`,
  )
}

function move(
  storage: StorageOptions,
  { to, store }: MigrateOptions,
  progress: Progress,
): Promise<MoveReport> {
  const onProgress = ({ bytes, of }: { bytes: number; of: number }) =>
    progress.note(`${bytes} of ${of} bytes`)
  if (to === undefined && store === 'directory') {
    // Rows of a catalog in the directory, as earlier versions allowed.
    const config = readConfig({ data: storage.data })
    return moveRows(config.data, { target: undefined, from: s3Access(config) }, onProgress)
  }
  if (to === undefined || (to !== 'directory' && (store ?? storage.store) === undefined)) {
    throw new UsageError(
      'migrate takes --to postgres://… together with --store s3://…, or --to directory to come back from there.',
    )
  }
  const config = readConfig({
    ...storage,
    database: to === 'directory' ? storage.database : to,
    store: store ?? storage.store,
  })
  const { data: directory, database } = config
  if (database === undefined) {
    throw new UsageError('Say where everything is: set PARQUETRY_DATABASE and PARQUETRY_STORE.')
  }
  const cluster = { database, store: objectStore(config)! }
  const secret = join(directory, 'secret')
  // The generated secret is a file beside a catalog in a directory, and a row where nodes share the catalog. With
  // PARQUETRY_SECRET there is neither.
  const prepare = async (catalog: Database) => {
    await makeTables(catalog)
    if (to !== 'directory' && !catalog.isShared) await readSecret(catalog, secret)
    if (to === 'directory' && catalog.isShared && !existsSync(secret)) await writeSecret(catalog, secret)
  }
  return to === 'directory'
    ? moveIntoDirectory({ directory, cluster, prepare, onProgress })
    : moveIntoCluster({ directory, cluster, prepare, onProgress })
}

/** Writes the secret that nodes share, if one was generated, into a file. */
async function writeSecret(catalog: Database, file: string): Promise<void> {
  const row = await catalog.get<{ value: string }>("SELECT value FROM secrets WHERE name = 'server'")
  if (row) writeFileSync(file, row.value, { mode: 0o600, flush: true })
}

/** Puts the secret of a data directory, if one was generated, into the catalog. */
async function readSecret(catalog: Database, file: string): Promise<void> {
  if (!existsSync(file)) return
  await catalog.run(
    `INSERT INTO secrets (name, value) VALUES ('server', ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    readFileSync(file, 'utf8'),
  )
}
