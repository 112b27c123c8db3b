import type { Account, ManagedAccount, NamedKey, UserKey } from './records.ts'
import type { CallOptions, Transport } from './transport.ts'

/** The account that the key belongs to. */
export class Accounts {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  get(options: CallOptions = {}): Promise<Account> {
    return this.#transport.json({ path: ['account'], ...options })
  }

  /** Makes a new key and ends the old one at once. This client uses the new one from then on; keep it. */
  async rotateKey(options: CallOptions = {}): Promise<{ readonly apiKey: string }> {
    const path = ['account', 'api-key']
    const made = await this.#transport.json<{ apiKey: string }>({ method: 'POST', path, ...options })
    this.#transport.key = made.apiKey
    return made
  }

  /** Further keys of the account, without the keys themselves. */
  listKeys(options: CallOptions = {}): Promise<NamedKey[]> {
    return this.#transport.json({ path: ['account', 'keys'], ...options })
  }

  /** Makes a further key, which may only read or end by itself. It is told this once. */
  createKey(
    key: { readonly name: string; readonly readOnly?: boolean; readonly expiresAt?: string | null },
    options: CallOptions = {},
  ): Promise<NamedKey & { readonly apiKey: string }> {
    return this.#transport.json({ method: 'POST', path: ['account', 'keys'], json: key, ...options })
  }

  deleteKey(name: string, options: CallOptions = {}): Promise<void> {
    return this.#transport.done({ method: 'DELETE', path: ['account', 'keys', name], ...options })
  }
}

/** All accounts, for admins. */
export class ManagedAccounts {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  list(options: CallOptions = {}): Promise<ManagedAccount[]> {
    return this.#transport.json({ path: ['accounts'], ...options })
  }

  /** Makes an account with its first key, which is told this once. */
  create(
    account: { readonly name: string; readonly plan?: string; readonly admin?: boolean },
    options: CallOptions = {},
  ): Promise<ManagedAccount & { readonly apiKey: string }> {
    return this.#transport.json({ method: 'POST', path: ['accounts'], json: account, ...options })
  }

  update(
    name: string,
    changes: { readonly plan?: string; readonly disabled?: boolean },
    options: CallOptions = {},
  ): Promise<ManagedAccount> {
    return this.#transport.json({ method: 'PUT', path: ['accounts', name], json: changes, ...options })
  }

  /** Makes a new first key for an account and ends the old one at once. */
  rotateKey(name: string, options: CallOptions = {}): Promise<{ readonly apiKey: string }> {
    return this.#transport.json({ method: 'POST', path: ['accounts', name, 'api-key'], ...options })
  }
}

/** The account's own keys at providers, which raise its limits there. */
export class UserKeys {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  list(options: CallOptions = {}): Promise<UserKey[]> {
    return this.#transport.json({ path: ['user-keys'], ...options })
  }

  save(provider: string, key: string, options: CallOptions = {}): Promise<UserKey> {
    return this.#transport.json({ method: 'PUT', path: ['user-keys', provider], json: { key }, ...options })
  }

  delete(provider: string, options: CallOptions = {}): Promise<void> {
    return this.#transport.done({ method: 'DELETE', path: ['user-keys', provider], ...options })
  }
}
