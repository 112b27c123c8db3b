import type { Command } from 'commander'
import type { Tables } from './tables/tables.ts'
import type { On } from './workplace.ts'

export function addAccountCommands(program: Command, on: On<Tables>): void {
  const account = program.command('account').description('accounts and their plans')

  account
    .command('create <name>')
    .description('create an account and print its key (shown only once)')
    .option('--plan <plan>', 'its plan', 'free')
    .action((name: string, { plan }: { plan: string }) =>
      on(async ({ accounts }) => {
        console.log((await accounts.create({ name, plan })).apiKey)
        // Who pipes it somewhere knows.
        if (process.stdout.isTTY) console.error(`This is the key of ${name}, shown only once.`)
      }),
    )

  account
    .command('list')
    .description('list the accounts')
    .action(() =>
      on(async ({ accounts }) => {
        for (const { name, plan, admin, disabled, apiKeyHint } of await accounts.list()) {
          const marks = [...(admin ? ['admin'] : []), ...(disabled ? ['disabled'] : [])]
          console.log([name, plan, apiKeyHint, ...marks].join('\t'))
        }
      }),
    )

  account
    .command('set-plan <name> <plan>')
    .description('move an account to another plan')
    .action((name: string, plan: string) => on(({ accounts }) => accounts.update(name, { plan })))

  account
    .command('disable <name>')
    .description('reject all keys of an account')
    .action((name: string) => on(({ accounts }) => accounts.update(name, { disabled: true })))

  account
    .command('enable <name>')
    .description('accept the keys of a disabled account again')
    .action((name: string) => on(({ accounts }) => accounts.update(name, { disabled: false })))

  program
    .command('key')
    .description('API keys')
    .command('rotate <name>')
    .description("replace an account's API key and print the new one (shown only once)")
    .action((name: string) =>
      on(async ({ accounts }) => console.log((await accounts.rotateKey(name)).apiKey)),
    )
}
