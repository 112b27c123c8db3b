import type { Command } from 'commander'
import { UsageError, wholeNumber } from '../usage.ts'
import type { Target } from '../workplace.ts'
import type { Given } from './run.ts'

export function addBenchCommand(program: Command, target: Target): void {
  program
    .command('bench [what...]')
    .description(
      'measure how fast tables are exported: files of yours or the samples, on a temporary server, or datasets of the server that --server names, by their names or ids',
    )
    .option('--formats <list>', 'the formats, separated by commas', 'csv,json,xlsx,parquet,arrow')
    .option('--clients <list>', 'how many clients download at once, for example 1,8', '1')
    .option('--seconds <number>', 'how long each format is measured', seconds, 3)
    .option('--filter <text>', 'exports only the rows that match an OData expression')
    .option('--beside <list>', 'what else writes the same rows: copy (of DuckDB), pandas, polars', 'copy')
    .option(
      '--python <program>',
      'the Python for pandas and polars: it must have them. By default python3, and if it lacks them, an environment of its own into which they are installed',
    )
    .option('--json <file>', 'writes the figures')
    .option('--html <file>', 'writes a page with plots')
    .option('--compare <file>', 'compares with figures that --json has written')
    .option(
      '--fail-above <ratio>',
      'with --compare: exits with 1 if an export takes longer by more than this, for example 1.1',
      ratio,
    )
    .action(async (what: string[], given: Given) => {
      // DuckDB's own client, with which COPY is measured, takes a tenth of a second to load.
      const { bench } = await import('./run.ts')
      await bench(what, given, target.server())
    })
}

const seconds = (text: string) => wholeNumber('--seconds', text)

function ratio(text: string): number {
  if (Number(text) > 0) return Number(text)
  throw new UsageError(`--fail-above: ${JSON.stringify(text)} is not a ratio such as 1.1.`)
}
