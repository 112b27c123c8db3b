import { Command, CommanderError } from 'commander'
import { ConnectorError } from '../../connectors/errors.ts'
import { EngineError, faultsOf } from '../../engine/index.ts'
import { MOST_FAULTS } from '../../engine/ingest/text/errors.ts'
import { ParquetryError } from '../client/index.ts'
import { ConfigError } from '../config/read.ts'
import { ServerError } from '../http/errors.ts'
import { ownVersion } from '../version.ts'
import { addAccountCommands } from './account.ts'
import { addAppendCommand } from './append.ts'
import { addAttachCommand } from './attach.ts'
import { addCompletionCommand } from './completion.ts'
import { addDescribeCommand, addVersionsCommand } from './describe.ts'
import { addExportCommand, addSqlCommand } from './export.ts'
import { addImportCommand } from './import.ts'
import { addMaintenanceCommands } from './maintenance.ts'
import { addProviderCommands } from './providers.ts'
import { addMemberCommands, addRepositoryCommands } from './repository.ts'
import { addDemoCommand, addMcpCommand, addServeCommand } from './serve.ts'
import { addSourceCommands } from './source.ts'
import { addBenchCommand } from './throughput/command.ts'
import { Failed, fileProblem, UsageError, withFlags } from './usage.ts'
import { Target } from './workplace.ts'

/** Runs `parquetry …` and returns the exit code: 0 success, 1 failure, 2 wrong usage. */
export async function run(args: readonly string[]): Promise<number> {
  if (args.length === 1 && args[0] === '--version') {
    console.log(ownVersion())
    return 0
  }
  try {
    await makeProgram().parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    return reportError(error)
  }
}

export function makeProgram(): Command {
  const program = new Command('parquetry')
    .description(
      'Tables in Parquet, queried by OData $filter, exported as csv, tsv, json, ndjson, xlsx, parquet and arrow.',
    )
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'parquetry: ')) })
  // Not an option of every command, because `export` has one of the same name.
  program.addHelpText('after', '\nparquetry --version prints the version.')
  const target = new Target(program)

  addServeCommand(program, target)
  addDemoCommand(program, target)
  addAccountCommands(program, target.tables)
  addRepositoryCommands(program, target.tables)
  addMemberCommands(program, target.tables)
  addImportCommand(program, target.tables)
  addAppendCommand(program, target.tables)
  addAttachCommand(program, target.directory)
  addExportCommand(program, target.tables)
  addSqlCommand(program, target.tables)
  addDescribeCommand(program, target.tables)
  addSourceCommands(program, target.tables)
  addProviderCommands(program, target.directory)
  addVersionsCommand(program, target.tables)
  addMaintenanceCommands(program, target)
  addMcpCommand(program, target)
  addBenchCommand(program, target)
  addCompletionCommand(program)
  return program
}

/** Says what went wrong, and gives the exit code for it. */
export function reportError(error: unknown): number {
  // Commander has already printed the error or the help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof Failed && error.message === '') return 1
  const { syscall, path, code = '' } = error as NodeJS.ErrnoException
  const { details } = error as Partial<Pick<EngineError | ParquetryError, 'details'>>
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    console.error(`parquetry: ${listenProblem(error as ListenError)}`)
  } else if (syscall !== undefined) {
    const problem = fileProblem(error as NodeJS.ErrnoException)
    console.error(`parquetry: ${path === undefined ? problem : `${path}: ${problem}`}`)
  } else {
    const isKnown = KNOWN.some((kind) => error instanceof kind)
    console.error(isKnown ? `parquetry: ${withFlags((error as Error).message, details?.hints)}` : error)
  }
  const faults =
    error instanceof ParquetryError ? error.errors : error instanceof EngineError ? faultsOf(error) : []
  // The first is the message.
  for (const fault of faults.slice(1)) console.error(`  ${withFlags(fault.error, fault.hints)}`)
  if (code === 'invalid_upload')
    console.error(`Nothing was stored.${faults.length < MOST_FAULTS ? '' : ' There may be more errors.'}`)
  return error instanceof UsageError || error instanceof ConfigError ? 2 : 1
}

/** The errors that are raised on purpose, with a message for people. */
const KNOWN = [UsageError, ConfigError, EngineError, ServerError, ConnectorError, Failed, ParquetryError]

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
