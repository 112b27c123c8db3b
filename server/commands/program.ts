import { Command, CommanderError } from 'commander'
import { type Engine, EngineError, FORMATS, migrate, openEngine } from '../../engine/index.ts'
import { Accounts } from '../accounts/accounts.ts'
import { SERVER_STEPS } from '../accounts/schema.ts'
import { ConfigError, readConfig } from '../config/read.ts'
import { ServerError } from '../http/errors.ts'
import { addAccountCommands } from './account.ts'
import { backup, gc, restore, verify } from './maintenance.ts'
import { addRepositoryCommands } from './repository.ts'
import { serveUntilStopped } from './serve.ts'
import { exportDataset, importFile } from './transfer.ts'
import { oneOf, UsageError, wholeNumber } from './usage.ts'

/** What a command works on: the data directory, opened beside whoever else uses it. */
export interface Workplace {
  readonly engine: Engine
  readonly accounts: Accounts
  readonly plans: readonly string[]
  /** The data directory. */
  readonly data: string
}

/** Runs `parquetry …`; gives the exit code: 0 done, 1 failed, 2 called wrongly. */
export async function run(args: readonly string[]): Promise<number> {
  let failed = false
  const program = new Command('parquetry')
    .description(
      'Tables in Parquet, queried by OData $filter, exported as csv, tsv, json, xlsx, parquet and arrow.',
    )
    .option('--data <directory>', 'the data directory (PARQUETRY_DATA)')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'parquetry: ')) })

  const at = async (work: (place: Workplace) => unknown) => {
    const config = readConfig({ data: program.opts<{ data?: string }>().data })
    await using engine = await openEngine({
      directory: config.data,
      onEvent: ({ message }) => console.error(`parquetry: ${message}`),
      ...config.engine,
    })
    migrate(engine.database, 'server', SERVER_STEPS)
    await work({
      engine,
      accounts: new Accounts(engine.database),
      plans: Object.keys(config.plans),
      data: config.data,
    })
  }

  program
    .command('serve')
    .description('serve the HTTP API')
    .option('--port <number>', 'port; 0 takes a free one (PARQUETRY_PORT)')
    .option('--host <address>', 'address to listen on (PARQUETRY_HOST)')
    .option('--data <directory>', 'the data directory (PARQUETRY_DATA)')
    .option('--no-samples', 'start empty')
    .option('--new', 'begin anew where the catalog is lost or damaged; what is there is set aside')
    .action((options: { port?: string; host?: string; data?: string; samples: boolean; new?: boolean }) =>
      serveUntilStopped(
        readConfig({
          port: options.port,
          host: options.host,
          data: options.data ?? program.opts<{ data?: string }>().data,
          // Commander says true where nothing was said; then the configuration decides.
          samples: options.samples ? undefined : false,
        }),
        { anew: options.new },
      ),
    )

  addAccountCommands(program, at)
  addRepositoryCommands(program, at)

  program
    .command('import <file>')
    .description('put the rows of a file into a dataset, which is made where it is not there')
    .requiredOption('--repository <id>', 'the repository', wholeNumber)
    .requiredOption('--dataset <name>', 'the name of the dataset')
    .option('--append', 'behind the rows that are there, not in their place', false)
    .action((file: string, options: { repository: number; dataset: string; append: boolean }) =>
      at(({ engine }) => importFile(engine, file, options)),
    )

  program
    .command('export <dataset>')
    .description('write the rows of a dataset to a file or to the standard output')
    .option('--format <format>', FORMATS.join(', '), (text) => oneOf(FORMATS, text), 'csv' as const)
    .option('--filter <expression>', 'an OData $filter')
    .option('--top <rows>', 'rows from the start', wholeNumber)
    .option('--last <rows>', 'rows from the end', wholeNumber)
    .option('-o, --output <file>', 'the file, which appears when it is whole')
    .action((dataset: string, options: Parameters<typeof exportDataset>[2]) =>
      at(({ engine }) => exportDataset(engine, wholeNumber(dataset), options)),
    )

  program
    .command('verify')
    .description('read every part and hold it against the catalog')
    .action(() =>
      at(async ({ engine }) => {
        failed = !(await verify(engine))
      }),
    )

  program
    .command('backup <directory>')
    .description(
      'copy the data directory as of one moment, also beside a server; a copy is brought up to date',
    )
    .action((directory: string) => at(({ engine, data }) => backup(engine, data, directory)))

  program
    .command('restore <backup>')
    .description(
      'copy a backup into a new data directory, each part held against the hash it was written with',
    )
    .action((from: string) =>
      restore(from, readConfig({ data: program.opts<{ data?: string }>().data }).data),
    )

  program
    .command('gc')
    .description('remove what nothing needs any more; not beside a server')
    .action(() => at(({ engine }) => gc(engine)))

  try {
    await program.parseAsync(args, { from: 'user' })
    return failed ? 1 : 0
  } catch (error) {
    return exitCode(error)
  }
}

function exitCode(error: unknown): number {
  // Commander has said what was wrong, or shown the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof UsageError || error instanceof ConfigError) {
    console.error(`parquetry: ${error.message}`)
    return 2
  }
  const known =
    error instanceof EngineError || error instanceof ServerError || (error as { syscall?: string }).syscall
  console.error(known ? `parquetry: ${(error as Error).message}` : error)
  return 1
}
