import type { Command } from 'commander'
import type { Source } from '../client/index.ts'
import { INTERVALS } from '../records/sources.ts'
import { findDataset, findRepository, orRemoved } from './tables/find-by-name.ts'
import type { Tables } from './tables/tables.ts'
import { Failed, oneOf, UsageError } from './usage.ts'
import type { On } from './workplace.ts'

/** `parquetry source set|show|end`: manages the series that a dataset follows. */
export function addSourceCommands(program: Command, on: On<Tables>): void {
  const source = program.command('source').description('series of providers that a dataset follows')

  source
    .command('set <dataset> <series...>')
    .description(
      'make a dataset follow series, such as fred/GDP, and fetch them; a server then keeps it up to date',
    )
    .option('--every <interval>', `how often: ${INTERVALS.join(', ')}`, 'day')
    .option('--start <date>', 'the first date to fetch')
    .action((dataset: string, series: string[], options: { every: string; start?: string }) => {
      const every = oneOf('--every', INTERVALS, options.every)
      return on(async (tables) => {
        const found = await findOrMake(tables, dataset)
        const wanted = { series, start: options.start ?? null, every }
        const made = await orRemoved(tables, found, async () => {
          const source = await tables.follow(found.id, wanted)
          const hasFailed = source.lastError !== null && source.lastVersion === null
          if (hasFailed && found.isNew) {
            console.error(`parquetry: ${source.lastError}`)
            console.error('Nothing was fetched, so the new dataset is removed again.')
            throw new Failed()
          }
          print(source)
          return source
        })
        if (made.lastError !== null) throw new Failed()
      })
    })

  source
    .command('show <dataset>')
    .description('print the series or the file that a dataset follows, and its last and next refresh')
    .action((dataset: string) =>
      on(async (tables) => {
        const { id } = await findDataset(tables, dataset)
        const found = await tables.source(id)
        if (found === undefined) console.log(`dataset ${id} follows neither series nor a file`)
        else print(found)
      }),
    )

  source
    .command('end <dataset>')
    .description('stop following series or a file; the rows stay')
    .action((dataset: string) =>
      on(async (tables) => {
        const { id } = await findDataset(tables, dataset)
        await tables.unfollow(id)
      }),
    )
}

/**
 * Finds the dataset. If there is none, makes one, provided that the text names an existing repository and a name that
 * is free in it.
 */
async function findOrMake(tables: Tables, text: string): Promise<{ id: number; isNew: boolean }> {
  try {
    return { id: (await findDataset(tables, text)).id, isNew: false }
  } catch (error) {
    const slash = text.indexOf('/')
    if (!(error instanceof UsageError) || slash < 1 || slash === text.length - 1) throw error
    const { id: repositoryId } = await findRepository(tables, text.slice(0, slash))
    const name = text.slice(slash + 1)
    const taken = (await tables.datasets()).some(
      (one) => one.repositoryId === repositoryId && one.name === name,
    )
    if (taken) throw error
    return { id: (await tables.createDataset({ repositoryId, name })).id, isNew: true }
  }
}

function print({ series, url, start, every, lastRun, nextRun, lastError, lastVersion }: Source): void {
  const lines = [
    ...(series.length > 0 ? [['series', series.join(' ')]] : []),
    ...(url === undefined ? [] : [['file', url]]),
    ...(start === null ? [] : [['start', start]]),
    ['every', every],
    ['last run', lastRun ?? 'not yet'],
    ['next run', nextRun],
    ...(lastError === null ? [] : [['last error', lastError]]),
    ['version', lastVersion ?? 'none yet'],
  ]
  for (const [name, value] of lines) console.log(`${name}\t${value}`)
}
