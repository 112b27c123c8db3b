import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Account, Accounts } from './accounts.ts'

/** For how long a link opens, in seconds: long enough to be clicked, too short to be kept. */
export const LINK_SECONDS = 300

const PARAMETER = 'ticket'
/** At the end of an address: `?ticket=…` or `&ticket=…`. */
const TICKET = new RegExp(`[?&]${PARAMETER}=(\\d+)\\.(\\d+)\\.([\\w-]+)$`)

/**
 * Addresses that open for some minutes without a key, so that a browser, which can't send a header with a download, or
 * somebody else's program fetches one export. A link holds the account, the time at which it ends, and a signature over
 * both and the whole address. The account's key is part of what is signed: when the key is rotated, its links end.
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

  /** @param address path and query string, as the request will have them */
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

  /** The account for which an address opens; undefined where it has no ticket, a wrong one, or one that has ended. */
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
