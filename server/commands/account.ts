import type { Command } from 'commander'
import { oneOf } from './usage.ts'
import type { Workplace } from './workplace.ts'

type At = (work: (place: Workplace) => unknown) => Promise<void>

/** `parquetry account create|list|set-plan` and `parquetry key rotate`. */
export function addAccountCommands(program: Command, at: At): void {
  const account = program.command('account').description('accounts and their plans')

  account
    .command('create <name>')
    .description('make an account and print its key, once')
    .option('--plan <plan>', 'its plan', 'free')
    .action((name: string, options: { plan: string }) =>
      at(async ({ accounts, plans }) => {
        console.log((await accounts.create({ name, plan: oneOf(plans, options.plan) })).key)
      }),
    )

  account
    .command('list')
    .description('list the accounts')
    .action(() =>
      at(async ({ accounts }) => {
        for (const { name, plan, admin, apiKeyHint } of await accounts.list()) {
          console.log([name, plan, apiKeyHint, ...(admin ? ['admin'] : [])].join('\t'))
        }
      }),
    )

  account
    .command('set-plan <name> <plan>')
    .description('move an account to another plan')
    .action((name: string, plan: string) =>
      at(async ({ accounts, plans }) => {
        const { id } = await accounts.byName(name)
        await accounts.setPlan(id, oneOf(plans, plan))
      }),
    )

  program
    .command('key')
    .description('API keys')
    .command('rotate <name>')
    .description("replace an account's key and print the new one, once")
    .action((name: string) =>
      at(async ({ accounts }) => {
        const { id } = await accounts.byName(name)
        console.log((await accounts.rotateKey(id)).key)
      }),
    )
}
