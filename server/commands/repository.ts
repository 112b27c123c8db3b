import type { Command } from 'commander'
import type { Tables } from './tables/tables.ts'

/** `parquetry repository list|create`. */
export function addRepositoryCommands(
  program: Command,
  on: (work: (tables: Tables) => unknown) => Promise<void>,
): void {
  const repository = program.command('repository').description('repositories')

  repository
    .command('list')
    .description('list the repositories and their datasets')
    .action(() =>
      on(async (tables) => {
        const datasets = await tables.datasets()
        for (const { id, name } of await tables.repositories()) {
          console.log(`${id}\t${name}`)
          for (const dataset of datasets.filter(({ repositoryId }) => repositoryId === id)) {
            console.log(`\t${dataset.id}\t${dataset.name}\t${dataset.rowCount} rows`)
          }
        }
      }),
    )

  repository
    .command('create <name>')
    .description(
      'make a repository and print its id; in a data directory it is private and belongs to the first account',
    )
    .option('--description <text>', 'what it contains', '')
    .action((name: string, options: { description: string }) =>
      on(async (tables) => {
        console.log((await tables.createRepository({ name, ...options })).id)
      }),
    )
}
