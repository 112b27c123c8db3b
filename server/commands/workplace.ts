import type { Engine } from '../../engine/index.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Config } from '../config/config.ts'

/** What a command works on: the data directory, which other processes may have open too. */
export interface Workplace {
  readonly engine: Engine
  readonly accounts: Accounts
  readonly plans: readonly string[]
  /** Path of the data directory. */
  readonly data: string
  readonly config: Config
}
