import { createHmac, hkdfSync } from 'node:crypto'
import type { Database } from '../../engine/index.ts'
import { asSigned } from '../http/addresses.ts'
import { ServerError } from '../http/errors.ts'
import type { LinkRecord } from '../records/index.ts'
import { type Account, type Keys, lastUse, sameHash } from './accounts.ts'

/** How many seconds a link works unless told otherwise: long enough to click it, too short to be worth keeping. */
export const LINK_SECONDS = 300

/** The most links of an account that work at the same time. */
const MOST = 1_000

const PARAMETER = 'ticket'
/** Matches the ticket at the end of an address: `?ticket=…` or `&ticket=…`. */
const TICKET = new RegExp(`[?&]${PARAMETER}=(\\d+)\\.(\\d+)\\.(\\d+)\\.(\\d+)\\.([\\w-]+)$`)

/** Matches the path of a link to all rows of a dataset in one format, which can also end in the name of a file. */
const WHOLE_DATASET = /^(.*)\/datasets\/(\d+)\/data\?\$format=([a-z-]+)$/

/**
 * The address that is signed for one that ends in the name of a file: `/d/ticket=…/3/data.parquet` is
 * `/datasets/3/data?$format=parquet&ticket=…`.
 * @param query what clients added, which a signature does not cover unless it is their key
 */
export function addressOfTicket(
  { ticket, id, format }: { readonly ticket: string; readonly id: string; readonly format: string },
  query: string,
): string {
  const added = query && `&${query}`
  const named = encodeURIComponent(format)
  return `/datasets/${encodeURIComponent(id)}/data?$format=${named}${added}&${PARAMETER}=${encodeURIComponent(ticket)}&download=true`
}

type Row = Omit<LinkRecord, 'url' | 'fileUrl'> & { readonly keyId: number }

const SELECT = `SELECT id, coalesce(key_id, 0) AS "keyId", path, name, created_at AS "createdAt",
  expires_at AS "expiresAt", last_used_at AS "lastUsedAt" FROM links`

/** What a ticket says. */
interface Ticket {
  readonly accountId: number
  /** The named key that made it; 0 for the account's first key. */
  readonly keyId: number
  /** Seconds since 1970. */
  readonly ends: number
  /** The link in the list of links; 0 for an address that is not in it. */
  readonly linkId: number
}

interface LinkParts {
  readonly database: Database
  readonly keys: Keys
  readonly secret: string
  readonly now?: (() => Date) | undefined
}

/**
 * Makes addresses that work for some time without a key. With one, a browser, which can't send a header with a download,
 * or another person's program can fetch a single export. The ticket of a link is signed together with the whole address
 * and a mark of the key that made it, so that links end when this key is rotated, deleted or expires.
 */
export class Links {
  readonly #parts: LinkParts
  readonly #secret: Buffer
  readonly #now: () => Date
  readonly #noteUse: (id: number) => void

  constructor(parts: LinkParts) {
    this.#parts = parts
    this.#secret = Buffer.from(hkdfSync('sha256', parts.secret, '', 'parquetry links', 32))
    this.#now = parts.now ?? (() => new Date())
    this.#noteUse = lastUse(parts.database, 'links', this.#now)
  }

  /**
   * An address that works for some seconds and is in no list.
   * @param keyId the named key of the request; 0 for the account's first key
   * @param address path and query string of the request that it allows
   */
  async address(accountId: number, keyId: number, address: string, seconds: number): Promise<string> {
    const ends = Math.floor(this.#now().getTime() / 1000) + seconds
    return (await this.#signed({ accountId, keyId, ends, linkId: 0 }, address))!
  }

  /** Makes a link for a path. @throws ServerError `too_many_keys` */
  async create(
    accountId: number,
    keyId: number,
    {
      path,
      name = null,
      expiresIn = LINK_SECONDS,
    }: { path: string; name?: string | null; expiresIn?: number },
  ): Promise<LinkRecord> {
    const now = this.#now()
    const id = await this.#parts.database.transaction(async (t) => {
      await t.run('DELETE FROM links WHERE expires_at <= ?', now.toISOString())
      const sql = 'SELECT count(*) AS n FROM links WHERE account_id = ?'
      if ((await t.get<{ n: number }>(sql, accountId))!.n >= MOST) {
        throw new ServerError('too_many_keys', `An account has at most ${MOST} links. Delete one first.`)
      }
      return t.insert(
        `INSERT INTO links (account_id, key_id, path, name, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)`,
        accountId,
        keyId === 0 ? null : keyId,
        path,
        name,
        now.toISOString(),
        new Date((Math.floor(now.getTime() / 1000) + expiresIn) * 1000).toISOString(),
      )
    })
    return (await this.list(accountId)).find((link) => link.id === id)!
  }

  /** The links of an account that still work, the newest first. @param keyId only those that this key has made */
  async list(accountId: number, keyId?: number): Promise<LinkRecord[]> {
    const rows = await this.#parts.database.all<Row>(
      `${SELECT} WHERE account_id = ? AND expires_at > ? ORDER BY id DESC`,
      accountId,
      this.#now().toISOString(),
    )
    const links = rows
      .filter((row) => keyId === undefined || row.keyId === keyId)
      .map(async ({ keyId, ...row }) => {
        const ends = Date.parse(row.expiresAt) / 1000
        const url = await this.#signed({ accountId, keyId, ends, linkId: row.id }, row.path)
        return url === undefined ? [] : [{ ...row, url, ...endingInFile(row.path, url) }]
      })
    return (await Promise.all(links)).flat()
  }

  /** Ends a link at once. @throws ServerError `not_found` */
  async delete(accountId: number, id: number): Promise<void> {
    const sql = 'DELETE FROM links WHERE account_id = ? AND id = ?'
    if ((await this.#parts.database.run(sql, accountId, id)) > 0) return
    throw new ServerError('not_found', `There is no link ${id}; GET /links lists those that there are.`)
  }

  /**
   * The account whose link an address is, with what its key reaches; undefined if the address has no ticket, a wrong
   * one, or one that has ended.
   */
  async account(url: string): Promise<Account | undefined> {
    const link = await this.#valid(url)
    if (link && link.ticket.linkId !== 0) this.#noteUse(link.ticket.linkId)
    return link?.account
  }

  /**
   * What is known of a link: its name, when it ends, and its address for the same rows in another format, which works
   * as long as the link does; undefined as for `account`.
   */
  async opened(url: string) {
    const link = await this.#valid(url)
    if (!link) return undefined
    const { ticket, name, mark } = link
    return {
      name,
      expiresAt: new Date(ticket.ends * 1000),
      sameFor: (address: string) => this.#withTicket(ticket, address, mark),
    }
  }

  async #valid(url: string) {
    const address = asSigned(url)
    const match = TICKET.exec(address)
    if (!match) return undefined
    const [accountId, keyId, ends, linkId] = match.slice(1, 5).map(Number) as [number, number, number, number]
    if (ends * 1000 <= this.#now().getTime()) return undefined
    const key = await this.#parts.keys.get(accountId, keyId)
    if (!key) return undefined
    const ticket = { accountId, keyId, ends, linkId }
    const expected = this.#signature(ticket, address.slice(0, match.index), key.mark)
    if (!sameHash(Buffer.from(match[5]!), Buffer.from(expected))) return undefined
    const { account, mark } = key
    if (linkId === 0) return { ticket, account, mark, name: null }
    const sql = 'SELECT name FROM links WHERE id = ?'
    const row = await this.#parts.database.get<Pick<LinkRecord, 'name'>>(sql, linkId)
    return row && { ticket, account, mark, name: row.name }
  }

  /** An address with its ticket; undefined if the key that made it is no more. */
  async #signed(ticket: Ticket, address: string): Promise<string | undefined> {
    const key = await this.#parts.keys.get(ticket.accountId, ticket.keyId)
    return key && this.#withTicket(ticket, address, key.mark)
  }

  #withTicket(ticket: Ticket, address: string, mark: string): string {
    const { accountId, keyId, ends, linkId } = ticket
    const separator = address.includes('?') ? '&' : '?'
    const signature = this.#signature(ticket, address, mark)
    return `${address}${separator}${PARAMETER}=${accountId}.${keyId}.${ends}.${linkId}.${signature}`
  }

  /** The signature of a link, however its address is percent-encoded, which mail programs change. */
  #signature({ accountId, keyId, ends, linkId }: Ticket, address: string, mark: string): string {
    const signed = [accountId, keyId, ends, linkId, decoded(asSigned(address)), mark]
    return createHmac('sha256', this.#secret).update(JSON.stringify(signed)).digest('base64url')
  }
}

/** The same link with an address that ends in the name of a file, if it opens all rows of a dataset. */
function endingInFile(path: string, url: string): { fileUrl?: string } {
  const [, prefix = '', id, format] = WHOLE_DATASET.exec(path) ?? []
  if (id === undefined) return {}
  return { fileUrl: `${prefix}/d/${url.slice(path.length + 1)}/${id}/data.${format}` }
}

/** The segments of an address, and the names and values of its query. */
function decoded(address: string): readonly (readonly string[])[] {
  const [path = '', ...query] = address.split('?')
  try {
    const pairs = query
      .join('?')
      .split('&')
      .map((pair) => pair.replaceAll('+', ' ').split('='))
    return [path.split('/'), ...pairs].map((texts) => texts.map(decodeURIComponent))
  } catch {
    return [[address]]
  }
}
