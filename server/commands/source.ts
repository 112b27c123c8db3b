import type { Command } from 'commander'
import { fromPlain, optionTexts } from '../../engine/options.ts'
import type { Source } from '../client/index.ts'
import type { NewSource } from '../records/index.ts'
import { INTERVALS, MODES } from '../records/sources.ts'
import { OPTIONS } from './import.ts'
import { findDataset, findOrMake, findRepository, orRemoved, type Tables } from './tables/tables.ts'
import { addOptions, Failed, oneOf, UsageError, withFlags } from './usage.ts'
import type { On } from './workplace.ts'

export function addSourceCommands(program: Command, on: On<Tables>): void {
  const source = program
    .command('source')
    .description('series of providers, or a file at an address, that a dataset follows')

  const set = source
    .command('set <dataset> <series-or-address...>')
    .description(
      'make a dataset follow series, such as fred/GDP, or a file at an address, and fetch them; ' +
        'a server then keeps it up to date',
    )
    .option('--every <interval>', `how often: ${INTERVALS.join(', ')}`, 'day')
    .option('--start <date>', 'the first date of series to fetch')
    .option('--confirm', 'take them even if they have no rows, or fewer than half of those that there are')
    .option('--mode <mode>', `how the rows of a file come to those that are there: ${MODES.join(', ')}`)
    .action((dataset: string, followed: string[], options: SetOptions) => {
      const fields = newSource(followed, options)
      return on(async (tables) => {
        const found = await findOrMakeNamed(tables, dataset)
        const made = await orRemoved(tables, found, async () => {
          const source = await tables.datasets.follow(found.id, fields)
          if (source.lastError !== null && source.lastVersion === null && !found.known) {
            const failure = withFlags(source.lastError, source.hints)
            throw new Failed(`${failure}\nNothing was fetched, so the new dataset is removed again.`)
          }
          print(source)
          return source
        })
        if (made.lastError !== null) throw new Failed()
      })
    })
  addOptions(set, OPTIONS)

  source
    .command('show <dataset>')
    .description('print the series or the file that a dataset follows, and its last and next refresh')
    .action((dataset: string) =>
      on(async (tables) => {
        const { id } = await findDataset(tables, dataset)
        const found = await tables.datasets.source(id)
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
        await tables.datasets.unfollow(id)
      }),
    )
}

interface SetOptions {
  readonly every: string
  readonly start?: string
  readonly mode?: string
  readonly confirm?: true
}

function newSource(
  followed: readonly string[],
  { every, start, mode, confirm, ...reading }: SetOptions,
): NewSource {
  const options = optionTexts(fromPlain(reading, OPTIONS), OPTIONS)
  const isFile = followed.some((text) => /^https?:/i.test(text))
  if (isFile && followed.length > 1)
    throw new UsageError('A dataset follows one address, or series; not both.')
  return {
    ...(isFile ? { url: followed[0]! } : { series: followed }),
    every: oneOf('--every', INTERVALS, every),
    ...(start !== undefined && { start }),
    ...(confirm && { confirm }),
    ...(mode !== undefined && { mode: oneOf('--mode', MODES, mode) }),
    ...(Object.keys(options).length > 0 && { options }),
  }
}

/**
 * Finds the dataset. If there is none, makes one, provided that the text names an existing repository and a name that
 * is free in it.
 */
export async function findOrMakeNamed(tables: Tables, text: string): ReturnType<typeof findOrMake> {
  try {
    const known = await findDataset(tables, text)
    return { id: known.id, known }
  } catch (error) {
    const slash = text.indexOf('/')
    if (!(error instanceof UsageError) || slash < 1 || slash === text.length - 1) throw error
    const { id: repositoryId } = await findRepository(tables, text.slice(0, slash))
    const made = await findOrMake(tables, repositoryId, text.slice(slash + 1))
    if (made.known) throw error
    return made
  }
}

function print(source: Source): void {
  const lines = {
    series: source.series.join(' ') || undefined,
    file: source.url,
    files: source.files,
    mode: source.mode,
    ...source.options,
    start: source.start,
    every: source.every,
    'last run': source.lastRun ?? 'not yet',
    'next run': source.nextRun,
    'next release': source.nextRelease && `${source.nextRelease.name}, ${source.nextRelease.date}`,
    'last error': source.lastError && withFlags(source.lastError, source.hints),
    version: source.lastVersion ?? 'none yet',
  }
  for (const [name, value] of Object.entries(lines)) {
    if (value !== undefined && value !== null) console.log(`${name}\t${value}`)
  }
}
