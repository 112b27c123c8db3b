import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import { ConnectorError } from '../../connectors/errors.ts'
import { EngineError, migrate, openEngine } from '../../engine/index.ts'
import { Accounts } from '../accounts/accounts.ts'
import { SERVER_STEPS } from '../accounts/schema.ts'
import { ParquetryError } from '../client/index.ts'
import { ConfigError, readConfig } from '../config/read.ts'
import { objectStore } from '../config/store-options.ts'
import { ServerError } from '../http/errors.ts'
import { ownVersion } from '../version.ts'
import { addAccountCommands, localAccounts, remoteAccounts } from './account.ts'
import { addCompletionCommand } from './completion.ts'
import { addExportCommand } from './export.ts'
import { addImportCommand } from './import.ts'
import { backup, gc, type MigrateOptions, migrateTo, restore, verify } from './maintenance.ts'
import { addMcpCommand } from './mcp.ts'
import { addProviderCommands, IncompleteIndex } from './providers.ts'
import { addRepositoryCommands } from './repository.ts'
import { serveUntilStopped } from './serve.ts'
import { addSourceCommands } from './source.ts'
import { Interrupted } from './stop.ts'
import { localTables } from './tables/local.ts'
import { remoteTables } from './tables/remote.ts'
import { UsageError } from './usage.ts'
import type { Workplace } from './workplace.ts'
import { fileProblem } from './write-whole.ts'

/** Options that say where the catalog and the rows are. */
interface Place {
  readonly data?: string
  readonly database?: string
  readonly store?: string
}

interface ServeOptions {
  readonly port?: string
  readonly host?: string
  readonly samples: boolean
  readonly new?: boolean
}

/** The commands that work on a server with `--server`. */
const REMOTE = ['repository', 'import', 'export', 'source', 'account', 'key']
/** Those that use no data directory. */
const WITHOUT_DATA = ['mcp', 'completion']

/** Runs `parquetry …` and returns the exit code: 0 success, 1 failure, 2 wrong usage. */
export async function run(args: readonly string[]): Promise<number> {
  let failed = false
  const program = new Command('parquetry')
    .description(
      'Tables in Parquet, queried by OData $filter, exported as csv, tsv, json, ndjson, xlsx, parquet and arrow.',
    )
    .version(ownVersion(), '--version', 'print the version')
    .option('--data <directory>', 'the data directory (PARQUETRY_DATA)')
    .option(
      '--database <address>',
      'the database of the catalog, as postgres://host/database; prefer PARQUETRY_DATABASE, because process lists show options',
    )
    .option('--store <address>', 'the object store of the rows, as s3://bucket/prefix (PARQUETRY_STORE)')
    .option(
      '--server <url>',
      `use a server, not a data directory; for ${REMOTE.join(', ')} (PARQUETRY_SERVER)`,
    )
    .option(
      '--key <key>',
      'the API key for the server; prefer PARQUETRY_KEY, because process lists show options',
    )
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'parquetry: ')) })

  /** Whether the command may begin a data directory. If others did, a typing error in its path would go unnoticed. */
  let creates = false
  program.hook('preAction', (_, command) => {
    creates = command.name() === 'create'
    const { server, data, database, store } = program.opts<Place & { server?: string }>()
    if (server === undefined) return
    const group = command.parent === program ? command.name() : command.parent!.name()
    if (![...REMOTE, ...WITHOUT_DATA].includes(group)) {
      throw new UsageError(`This command works on a data directory; --server is for ${REMOTE.join(', ')}.`)
    }
    if ((data ?? database ?? store) !== undefined) {
      throw new UsageError(
        '--server names a server, and --data, --database and --store a directory: give one.',
      )
    }
  })

  const elsewhere = () => {
    const given = program.opts<Place & { server?: string; key?: string }>()
    const isHere = (given.data ?? given.database ?? given.store) !== undefined
    const server = given.server ?? (isHere ? undefined : process.env['PARQUETRY_SERVER'])
    return server ? serverAt(server, given.key ?? process.env['PARQUETRY_KEY']) : undefined
  }
  /** For commands that work on the data directory or, with --server, on a server. */
  const either =
    <T>(local: (place: Workplace) => T, remote: (url: string, key: string) => T) =>
    async (work: (part: T) => unknown): Promise<void> => {
      const server = elsewhere()
      await (server ? work(remote(server.url, server.key)) : at((place) => work(local(place))))
    }
  const on = either(localTables, remoteTables)
  /** Runs a command that works on the data directory itself. */
  const at = async (work: (place: Workplace) => unknown) => {
    const config = readConfig(program.opts<Place>())
    if (!creates && config.database === undefined && !holdsData(config.data)) {
      throw new UsageError(
        `There is no data in ${config.data}: name the data directory with --data or PARQUETRY_DATA.`,
      )
    }
    await using engine = await openEngine({
      directory: config.data,
      database: config.database,
      store: objectStore(config),
      onEvent: ({ message }) => console.error(`parquetry: ${message}`),
      ...config.engine,
    })
    await migrate(engine.database, 'server', SERVER_STEPS)
    await work({
      engine,
      accounts: new Accounts(engine.database),
      plans: Object.keys(config.plans),
      data: config.data,
      config,
    })
  }

  program
    .command('serve')
    .description('serve the HTTP API')
    .option('--port <number>', 'port; 0 takes a free one (PARQUETRY_PORT)')
    .option('--host <address>', 'address to listen on (PARQUETRY_HOST)')
    .option('--no-samples', 'start empty')
    .option('--new', 'start empty if the catalog is lost or damaged; existing files are moved aside')
    .addHelpText(
      'after',
      '\nserver/deploy/README.md has all settings: variables, and a JSON file that PARQUETRY_CONFIG names.',
    )
    .action((options: ServeOptions) =>
      serveUntilStopped(
        readConfig({
          port: options.port,
          host: options.host,
          ...program.opts<Place>(),
          // Without the option, Commander reports true; then the configuration decides.
          samples: options.samples ? undefined : false,
        }),
        { anew: options.new },
      ),
    )

  addAccountCommands(program, either(localAccounts, remoteAccounts))
  addRepositoryCommands(program, on)

  addImportCommand(program, on)
  addExportCommand(program, on)

  addSourceCommands(program, on)
  addProviderCommands(program, at)

  program
    .command('verify')
    .description('read every part and compare it with the catalog')
    .action(() =>
      at(async ({ engine }) => {
        failed = !(await verify(engine))
      }),
    )

  program
    .command('backup <directory>')
    .description(
      'copy the data directory as it is at one moment, even while a server runs; an existing copy is updated',
    )
    .action((directory: string) => at(({ engine, data }) => backup(engine, data, directory)))

  program
    .command('restore <backup>')
    .description('copy a backup into a new data directory, and check the hash of every part')
    .action((from: string) => restore(from, readConfig(program.opts<Place>())))

  program
    .command('migrate')
    .description(
      'move everything between the data directory and a database with an object store; continues after an interruption',
    )
    .option('--to <where>', 'postgres://… with --store s3://…, or "directory" to come back from there')
    .option('--store <where>', 's3://bucket/prefix; "directory" brings back rows alone')
    .action((options: MigrateOptions) => migrateTo(program.opts<Place>(), options))

  program
    .command('gc')
    .description('remove files that are no longer needed; not while a server runs')
    .action(() => at(({ engine }) => gc(engine)))

  addMcpCommand(program)
  addCompletionCommand(program)

  try {
    await program.parseAsync(args, { from: 'user' })
    return failed ? 1 : 0
  } catch (error) {
    return exitCode(error)
  }
}

/** Whether a directory has been used as a data directory. The engine tells whether anything is missing in it. */
function holdsData(directory: string): boolean {
  return ['catalog.sqlite', 'parts'].some((name) => existsSync(join(directory, name)))
}

/** @throws UsageError if the URL or the key is missing or malformed */
function serverAt(url: string, key: string | undefined): { url: string; key: string } {
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new UsageError(
      `--server takes an address as https://data.example.org; it is ${JSON.stringify(url)}.`,
    )
  }
  if (!key) throw new UsageError('A server needs an API key: set PARQUETRY_KEY, or give --key.')
  return { url, key }
}

function exitCode(error: unknown): number {
  // Commander has already printed the error or the help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof UsageError || error instanceof ConfigError) {
    console.error(`parquetry: ${error.message}`)
    return 2
  }
  if (error instanceof Interrupted) {
    console.error(`parquetry: ${error.message}`)
    return 1
  }
  const { syscall, path } = error as NodeJS.ErrnoException
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    console.error(`parquetry: ${listenProblem(error as ListenError)}`)
    return 1
  }
  if (syscall !== undefined) {
    const problem = fileProblem(error as NodeJS.ErrnoException)
    console.error(`parquetry: ${path === undefined ? problem : `${path}: ${problem}`}`)
    return 1
  }
  const known =
    error instanceof EngineError ||
    error instanceof ServerError ||
    error instanceof ConnectorError ||
    error instanceof IncompleteIndex ||
    error instanceof ParquetryError
  console.error(known ? `parquetry: ${error.message}` : error)
  return 1
}

interface ListenError extends NodeJS.ErrnoException {
  readonly address?: string
  readonly hostname?: string
  readonly port?: number
}

/** Says why the server can't listen, and what to change. */
function listenProblem({ code, address, hostname, port }: ListenError): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Another program listens on port ${port} of ${address}: choose another port with --port.`
    case 'EACCES':
      return `You have no permission to listen on port ${port}: choose one above 1023 with --port.`
    default:
      return `The server can't listen on ${address ?? hostname}: give an address of this machine with --host (${code}).`
  }
}
