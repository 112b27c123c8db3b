import { Command } from 'commander'
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
import { reportError } from './report.ts'
import { addMemberCommands, addRepositoryCommands } from './repository.ts'
import { addDemoCommand, addMcpCommand, addServeCommand } from './serve.ts'
import { addSourceCommands } from './source.ts'
import { addBenchCommand } from './throughput/command.ts'
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
