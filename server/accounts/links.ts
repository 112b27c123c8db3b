import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Account, Accounts } from './accounts.ts'

/** How many seconds a link works: long enough to click it, too short to be worth keeping. */
export const LINK_SECONDS = 300

const PARAMETER = 'ticket'
/** Matches the ticket at the end of an address: `?ticket=…` or `&ticket=…`. */
const TICKET = new RegExp(`[?&]${PARAMETER}=(\\d+)\\.(\\d+)\\.([\\w-]+)$`)

/**
 * Makes addresses that work for some minutes without a key. With one, a browser, which can't send a header with a
 * download, or another person's program can fetch a single export. A link contains the account, the time at which it
 * ends, and a signature over both and the whole address. The signature also covers a mark of the account's key, so its
 * links end when the key is rotated.
 */
export class Links {
  readonly #accounts: Accounts
  readonly #secret: Buffer
  readonly #now: () => Date

  constructor(accounts: Accounts, secret: string, now = () => new Date()) {
    this.#accounts = accounts
    this.#secret = Buffer.from(hkdfSync('sha256', secret, '', 'parquetry links', 32))
    this.#now = now
  }

  /** @param address path and query string of the request that the link allows */
  async make(
    { id }: Account,
    address: string,
  ): Promise<{ readonly url: string; readonly expiresAt: string }> {
    const ends = Math.floor(this.#now().getTime() / 1000) + LINK_SECONDS
    const ticket = `${id}.${ends}.${await this.#sign(id, ends, address)}`
    return {
      url: `${address}${address.includes('?') ? '&' : '?'}${PARAMETER}=${ticket}`,
      expiresAt: new Date(ends * 1000).toISOString(),
    }
  }

  /** The account whose link an address is; undefined if it has no ticket, a wrong one, or one that has ended. */
  async account(address: string): Promise<Account | undefined> {
    const match = TICKET.exec(address)
    if (!match) return undefined
    const [id, ends] = [Number(match[1]), Number(match[2])]
    if (ends * 1000 <= this.#now().getTime()) return undefined
    const expected = Buffer.from(await this.#sign(id, ends, address.slice(0, match.index)))
    const given = Buffer.from(match[3]!)
    const right = given.length === expected.length && timingSafeEqual(given, expected)
    return right ? this.#accounts.find(id) : undefined
  }

  async #sign(id: number, ends: number, address: string): Promise<string> {
    const hmac = createHmac('sha256', this.#secret)
    const mark = await this.#accounts.keyMark(id)
    return hmac.update(JSON.stringify([id, ends, address, mark])).digest('base64url')
  }
}
