import type { Engine } from '../../engine/index.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Config } from '../config/config.ts'

/** What a command works on: the data directory, opened beside whoever else uses it. */
export interface Workplace {
  readonly engine: Engine
  readonly accounts: Accounts
  readonly plans: readonly string[]
  /** The data directory. */
  readonly data: string
  readonly config: Config
}
