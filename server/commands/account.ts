import type { Command } from 'commander'
import { Client, type ManagedAccount } from '../client/index.ts'
import { oneOf } from './usage.ts'
import type { On, Workplace } from './workplace.ts'

/** The accounts that commands work on: those of a data directory or of a remote server. Accounts are named. */
export interface AccountBook {
  list(): Promise<readonly ManagedAccount[]>
  /** Gives the new account's key. */
  create(name: string, plan: string): Promise<string>
  setPlan(name: string, plan: string): Promise<unknown>
  setDisabled(name: string, disabled: boolean): Promise<unknown>
  /** Gives the new key. */
  rotateKey(name: string): Promise<string>
}

export function localAccounts({ accounts, plans }: Workplace): AccountBook {
  const idOf = async (name: string) => (await accounts.byName(name)).id
  return {
    list: () => accounts.list(),
    create: async (name, plan) => (await accounts.create({ name, plan: oneOf('--plan', plans, plan) })).key,
    setPlan: async (name, plan) =>
      accounts.update(await idOf(name), { plan: oneOf('set-plan', plans, plan) }),
    setDisabled: async (name, disabled) => accounts.update(await idOf(name), { disabled }),
    rotateKey: async (name) => accounts.rotateKey(await idOf(name)),
  }
}

/** The accounts of a remote server; the key must be an admin's. */
export function remoteAccounts(url: string, key: string): AccountBook {
  const { accounts } = new Client({ url, key })
  return {
    list: () => accounts.list(),
    create: async (name, plan) => (await accounts.create({ name, plan })).apiKey,
    setPlan: (name, plan) => accounts.update(name, { plan }),
    setDisabled: (name, disabled) => accounts.update(name, { disabled }),
    rotateKey: async (name) => (await accounts.rotateKey(name)).apiKey,
  }
}

/** `parquetry account create|list|set-plan|disable|enable` and `parquetry key rotate`. */
export function addAccountCommands(program: Command, on: On<AccountBook>): void {
  const account = program.command('account').description('accounts and their plans')

  account
    .command('create <name>')
    .description('create an account and print its key (shown only once)')
    .option('--plan <plan>', 'its plan', 'free')
    .action((name: string, { plan }: { plan: string }) =>
      on(async (book) => {
        console.log(await book.create(name, plan))
        // Who pipes it somewhere knows.
        if (process.stdout.isTTY) console.error(`This is the key of ${name}, shown only once.`)
      }),
    )

  account
    .command('list')
    .description('list the accounts')
    .action(() =>
      on(async (book) => {
        for (const { name, plan, admin, disabled, apiKeyHint } of await book.list()) {
          const marks = [...(admin ? ['admin'] : []), ...(disabled ? ['disabled'] : [])]
          console.log([name, plan, apiKeyHint, ...marks].join('\t'))
        }
      }),
    )

  account
    .command('set-plan <name> <plan>')
    .description('move an account to another plan')
    .action((name: string, plan: string) => on((book) => book.setPlan(name, plan)))

  account
    .command('disable <name>')
    .description('reject all keys of an account')
    .action((name: string) => on((book) => book.setDisabled(name, true)))

  account
    .command('enable <name>')
    .description('accept the keys of a disabled account again')
    .action((name: string) => on((book) => book.setDisabled(name, false)))

  program
    .command('key')
    .description('API keys')
    .command('rotate <name>')
    .description("replace an account's API key and print the new one (shown only once)")
    .action((name: string) => on(async (book) => console.log(await book.rotateKey(name))))
}
