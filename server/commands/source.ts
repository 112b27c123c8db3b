import type { Command } from 'commander'
import type { Source } from '../client/index.ts'
import { INTERVALS } from '../sources/schedule.ts'
import { findDataset } from './tables/names.ts'
import type { Tables } from './tables/tables.ts'
import { oneOf } from './usage.ts'

/** `parquetry source set|show|end`: which series a dataset follows. */
export function addSourceCommands(
  program: Command,
  on: (work: (tables: Tables) => unknown) => Promise<void>,
): void {
  const source = program.command('source').description('series of providers that a dataset follows')

  source
    .command('set <dataset> <series...>')
    .description(
      'let a dataset follow series, as fred/GDP, and fetch them; a server then keeps it up to date',
    )
    .option('--every <interval>', `how often: ${INTERVALS.join(', ')}`, 'day')
    .option('--start <date>', 'the first date that is asked for')
    .action((dataset: string, series: string[], options: { every: string; start?: string }) => {
      const every = oneOf(INTERVALS, options.every)
      return on(async (tables) => {
        const { id } = await findDataset(tables, dataset)
        print(await tables.follow(id, { series, start: options.start ?? null, every }))
      })
    })

  source
    .command('show <dataset>')
    .description('print what a dataset follows, and how that goes')
    .action((dataset: string) =>
      on(async (tables) => {
        const { id } = await findDataset(tables, dataset)
        const found = await tables.source(id)
        if (found === undefined) console.log(`dataset ${id} follows no series`)
        else print(found)
      }),
    )

  source
    .command('end <dataset>')
    .description('end that a dataset follows series; its rows stay')
    .action((dataset: string) =>
      on(async (tables) => {
        const { id } = await findDataset(tables, dataset)
        await tables.unfollow(id)
      }),
    )
}

function print({ series, start, every, lastRun, nextRun, lastError, lastVersion }: Source): void {
  const lines = [
    ['series', series.join(' ')],
    ...(start === null ? [] : [['start', start]]),
    ['every', every],
    ['last run', lastRun ?? 'not yet'],
    ['next run', nextRun],
    ...(lastError === null ? [] : [['last error', lastError]]),
    ['version', lastVersion ?? 'none yet'],
  ]
  for (const [name, value] of lines) console.log(`${name}\t${value}`)
}
