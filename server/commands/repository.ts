import type { Command } from 'commander'
import type { Workplace } from './program.ts'

/** `parquetry repository list|create`. */
export function addRepositoryCommands(
  program: Command,
  at: (work: (place: Workplace) => unknown) => Promise<void>,
): void {
  const repository = program.command('repository').description('repositories')

  repository
    .command('list')
    .description('list the repositories and their datasets')
    .action(() =>
      at(({ engine }) => {
        for (const { id, name } of engine.repositories()) {
          console.log(`${id}\t${name}`)
          for (const dataset of engine.datasets({ repositoryId: id })) {
            console.log(`\t${dataset.id}\t${dataset.name}\t${dataset.rowCount} rows`)
          }
        }
      }),
    )

  repository
    .command('create <name>')
    .description('make a repository of the first account, private until it says otherwise; print its id')
    .option('--description <text>', 'what it holds', '')
    .action((name: string, options: { description: string }) =>
      at(({ engine }) => {
        console.log(engine.createRepository({ name, ...options }).id)
      }),
    )
}
