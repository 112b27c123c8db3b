import type { Command } from 'commander'
import { findRepository, type Tables } from './tables/tables.ts'
import { inRows } from './usage.ts'
import type { On } from './workplace.ts'

export function addRepositoryCommands(program: Command, on: On<Tables>): void {
  const repository = program.command('repository').description('repositories')

  repository
    .command('list')
    .description('list the repositories and their datasets')
    .action(() =>
      on(async (tables) => {
        const datasets = await tables.datasets.list()
        for (const { id, name } of await tables.repositories.list()) {
          console.log(`${id}\t${name}`)
          for (const dataset of datasets.filter(({ repositoryId }) => repositoryId === id)) {
            console.log(
              `\t${dataset.id}\t${dataset.name}\t${dataset.rowCount === null ? 'saved query' : inRows(dataset.rowCount)}`,
            )
          }
        }
      }),
    )

  repository
    .command('create <name>')
    .description(
      'create a repository and print its id; in a data directory it is private and belongs to the first account',
    )
    .option('--description <text>', 'what it contains', '')
    .action((name: string, options: { description: string }) =>
      on(async (tables) => {
        console.log((await tables.repositories.create({ name, ...options })).id)
      }),
    )
}

export function addMemberCommands(program: Command, on: On<Tables>): void {
  const member = program
    .command('member')
    .description('who may read and write a repository besides its owner')

  member
    .command('add <repository> <account>')
    .description('let an account read a repository, or change what it may do')
    .option('--write', 'let it write, too')
    .action((repository: string, account: string, { write }: { write?: boolean }) =>
      on(async (tables) => {
        const { id, name } = await findRepository(tables, repository)
        await tables.repositories.setMember(id, account, write ? 'Write' : 'Read')
        console.log(`${account} may read ${write ? 'and write ' : ''}${name}`)
      }),
    )

  member
    .command('list <repository>')
    .description('list the members of a repository')
    .action((repository: string) =>
      on(async (tables) => {
        for (const { account, permission } of await tables.repositories.members(
          (await findRepository(tables, repository)).id,
        ))
          console.log(`${account}\t${permission}`)
      }),
    )

  member
    .command('remove <repository> <account>')
    .description('end what an account may do as a member')
    .action((repository: string, account: string) =>
      on(async (tables) => {
        await tables.repositories.removeMember((await findRepository(tables, repository)).id, account)
      }),
    )
}
