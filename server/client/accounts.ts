import type { Account, UserKey } from './records.ts'
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
