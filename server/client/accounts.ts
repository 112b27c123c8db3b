import type {
  Account,
  AccountChanges,
  ApiKey,
  CreatedAccount,
  CreatedNamedKey,
  LinkRecord,
  ManagedAccount,
  NamedKey,
  NewAccount,
  NewNamedKey,
  Plan,
  UserKey,
} from '../records/index.ts'
import { type CallOptions, Calls } from './transport.ts'

/** The account that the key belongs to. */
export class Accounts extends Calls {
  get(options: CallOptions = {}): Promise<Account> {
    return this.transport.json({ path: ['account'], ...options })
  }

  /**
   * Replaces the account's key; the old one stops working at once. This client uses the new key from then on. Store it,
   * because the server can't show it again.
   */
  async rotateKey(options: CallOptions = {}): Promise<ApiKey> {
    const path = ['account', 'api-key']
    const made = await this.transport.json<ApiKey>({ method: 'POST', path, ...options })
    this.transport.key = made.apiKey
    return made
  }

  /** Lists the additional keys of the account, without the keys themselves. */
  listKeys(options: CallOptions = {}): Promise<NamedKey[]> {
    return this.transport.json({ path: ['account', 'keys'], ...options })
  }

  /** Creates an additional key, which may be read-only or expire. The key is in this answer only. */
  createKey(key: NewNamedKey, options: CallOptions = {}): Promise<CreatedNamedKey> {
    return this.transport.json({ method: 'POST', path: ['account', 'keys'], json: key, ...options })
  }

  deleteKey(name: string, options: CallOptions = {}): Promise<void> {
    return this.transport.json({ method: 'DELETE', path: ['account', 'keys', name], ...options })
  }

  /** Lists the links of the account that still work, the newest first. */
  listLinks(options: CallOptions = {}): Promise<LinkRecord[]> {
    return this.transport.json({ path: ['links'], ...options })
  }

  /** Ends a link at once. */
  deleteLink(id: number, options: CallOptions = {}): Promise<void> {
    return this.transport.json({ method: 'DELETE', path: ['links', id], ...options })
  }
}

/** Management of all accounts, for admins. */
export class ManagedAccounts extends Calls {
  list(options: CallOptions = {}): Promise<ManagedAccount[]> {
    return this.transport.json({ path: ['accounts'], ...options })
  }

  /** Lists the plans that accounts may have; a new account gets the first unless another is given. */
  plans(options: CallOptions = {}): Promise<Plan[]> {
    return this.transport.json({ path: ['plans'], ...options })
  }

  /** Creates an account and its first key, which is in this answer only. */
  create(account: NewAccount, options: CallOptions = {}): Promise<CreatedAccount> {
    return this.transport.json({ method: 'POST', path: ['accounts'], json: account, ...options })
  }

  update(name: string, changes: AccountChanges, options: CallOptions = {}): Promise<ManagedAccount> {
    return this.transport.json({ method: 'PUT', path: ['accounts', name], json: changes, ...options })
  }

  /** Replaces the first key of an account; the old one stops working at once. */
  rotateKey(name: string, options: CallOptions = {}): Promise<ApiKey> {
    return this.transport.json({ method: 'POST', path: ['accounts', name, 'api-key'], ...options })
  }
}

/** The account's own keys for providers, which raise its limits there. */
export class UserKeys extends Calls {
  list(options: CallOptions = {}): Promise<UserKey[]> {
    return this.transport.json({ path: ['user-keys'], ...options })
  }

  save(provider: string, key: string, options: CallOptions = {}): Promise<UserKey> {
    return this.transport.json({ method: 'PUT', path: ['user-keys', provider], json: { key }, ...options })
  }

  delete(provider: string, options: CallOptions = {}): Promise<void> {
    return this.transport.json({ method: 'DELETE', path: ['user-keys', provider], ...options })
  }
}
