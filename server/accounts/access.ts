import type { Handle } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import type { Account } from './accounts.ts'

export type Permission = 'Read' | 'Write'

/** What an account may do with a repository. Only the owner and admins may give rights to others. */
export type Right = Permission | 'Own'

/** A repository as one account sees it. */
export interface RepositoryAccess {
  readonly repositoryId: number
  readonly ownerId: number
  readonly owner: string
  readonly private: boolean
  /** undefined if the account may not even read it. */
  readonly right: Right | undefined
}

export interface Member {
  readonly account: string
  readonly permission: Permission
}

// Repositories that were made without the server, by the library or a command, belong to the first admin and are
// private.
const SELECT = `
  SELECT r.id AS "repositoryId", a.id AS "ownerId", a.name AS owner, coalesce(o.private, 1) AS private,
    m.permission AS permission
  FROM repositories r
  LEFT JOIN repository_owners o ON o.repository_id = r.id
  JOIN accounts a ON a.id = coalesce(o.account_id, (SELECT id FROM accounts ORDER BY admin DESC, id LIMIT 1))
  LEFT JOIN repository_members m ON m.repository_id = r.id AND m.account_id = ?`

const STORED = `
  SELECT count(*) AS datasets, CAST(sum(v.bytes) AS BIGINT) AS bytes
  FROM repository_owners o JOIN datasets d ON d.repository_id = o.repository_id JOIN versions v ON v.id = d.version_id
  WHERE o.account_id = ? AND d.id <> ?`

const RANK = { Read: 1, Write: 2, Own: 3 } as const satisfies Record<Right, number>

/** The rights to repositories: of their owners, of their members, and of everybody, who may read the public ones. */
export class Access {
  readonly #handle: Handle

  constructor(handle: Handle) {
    this.#handle = handle
  }

  /** The same rights, read and written in a transaction. */
  in(t: Handle): Access {
    return new Access(t)
  }

  /**
   * Keeps others from adding to what an account owns until the transaction ends, so that what is counted of it stays
   * right. Outside of a transaction it does nothing.
   */
  async holdOwned(ownerId: number): Promise<void> {
    if (this.#handle.inTransaction) await this.#handle.lock('accounts', ownerId)
  }

  /** @throws ServerError `not_found` */
  of(repositoryId: number, account: Account): Promise<RepositoryAccess> {
    const { id, admin } = account
    return this.#handle.recall(`access of ${id} ${admin} to ${repositoryId}`, async () => {
      const row = await this.#handle.get<AccessRow>(`${SELECT} WHERE r.id = ?`, id, repositoryId)
      if (!row) throw new ServerError('not_found', `There is no repository ${repositoryId}.`)
      return accessOf(row, account)
    })
  }

  /** Every repository that an account may read, by id. */
  async readable(account: Account): Promise<Map<number, RepositoryAccess>> {
    const rows = await this.#handle.all<AccessRow>(`${SELECT} ORDER BY r.id`, account.id)
    const all = rows.map((row) => accessOf(row, account))
    return new Map(all.filter((access) => access.right).map((access) => [access.repositoryId, access]))
  }

  /** @throws ServerError `not_found`, `forbidden` */
  async require(repositoryId: number, account: Account, right: Right): Promise<RepositoryAccess> {
    const access = await this.of(repositoryId, account)
    if (access.right && RANK[access.right] >= RANK[right]) return access
    throw new ServerError('forbidden', refusal(repositoryId, access.right, right))
  }

  async setOwner(repositoryId: number, ownerId: number, isPrivate: boolean): Promise<void> {
    await this.#handle.run(
      `INSERT INTO repository_owners VALUES (?, ?, ?)
       ON CONFLICT (repository_id) DO UPDATE SET account_id = excluded.account_id, private = excluded.private`,
      repositoryId,
      ownerId,
      isPrivate ? 1 : 0,
    )
  }

  async privateRepositories(ownerId: number): Promise<number> {
    const row = await this.#handle.get<{ n: number }>(
      'SELECT count(*) AS n FROM repository_owners WHERE account_id = ? AND private = 1',
      ownerId,
    )
    return row!.n
  }

  /** How many datasets are in the repositories of an account, and their bytes on disk; one dataset may be left out. */
  async stored(ownerId: number, without = 0): Promise<{ datasets: number; bytes: number }> {
    const row = await this.#handle.get<{ datasets: number; bytes: number | null }>(STORED, ownerId, without)
    return { datasets: row?.datasets ?? 0, bytes: row?.bytes ?? 0 }
  }

  /** Members, and names that were invited but have no account yet. */
  async members(repositoryId: number): Promise<Member[]> {
    const rows = await this.#handle.all<Member>(
      `SELECT a.name AS account, m.permission FROM repository_members m JOIN accounts a ON a.id = m.account_id
       WHERE m.repository_id = ?
       UNION ALL SELECT account, permission FROM repository_invitations WHERE repository_id = ? ORDER BY 1`,
      repositoryId,
      repositoryId,
    )
    return rows.map((row) => ({ ...row }))
  }

  /** Makes an account a member, or invites its name if no such account exists. Call it in a transaction. */
  async setMember(repositoryId: number, name: string, permission: Permission): Promise<void> {
    const changes = await this.#handle.run(
      `INSERT INTO repository_members SELECT ?, id, ? FROM accounts WHERE name = ?
       ON CONFLICT (repository_id, account_id) DO UPDATE SET permission = excluded.permission`,
      repositoryId,
      permission,
      name,
    )
    if (changes > 0) return
    await this.#handle.run(
      `INSERT INTO repository_invitations VALUES (?, ?, ?)
       ON CONFLICT (repository_id, account) DO UPDATE SET permission = excluded.permission`,
      repositoryId,
      name,
      permission,
    )
  }

  /** Removes a member or an invitation; gives whether there was one. */
  async removeMember(repositoryId: number, name: string): Promise<boolean> {
    const members = await this.#handle.run(
      'DELETE FROM repository_members WHERE repository_id = ? AND account_id = (SELECT id FROM accounts WHERE name = ?)',
      repositoryId,
      name,
    )
    const invited = await this.#handle.run(
      'DELETE FROM repository_invitations WHERE repository_id = ? AND account = ?',
      repositoryId,
      name,
    )
    return members + invited > 0
  }
}

interface AccessRow {
  readonly repositoryId: number
  readonly ownerId: number
  readonly owner: string
  readonly private: 0 | 1
  readonly permission: Permission | null
}

function accessOf(row: AccessRow, account: Account): RepositoryAccess {
  const isPrivate = row.private === 1
  const right: Right | undefined =
    account.admin || row.ownerId === account.id ? 'Own' : (row.permission ?? (isPrivate ? undefined : 'Read'))
  const { repositoryId, ownerId, owner } = row
  return { repositoryId, ownerId, owner, private: isPrivate, right }
}

function refusal(repositoryId: number, has: Right | undefined, wanted: Right): string {
  const repository = `repository ${repositoryId}`
  if (has === undefined) return `You have no access to ${repository}; its owner can make you a member.`
  if (wanted === 'Own') return `Only the owner of ${repository} may do this.`
  return `You have ${has} permission on ${repository}; this needs ${wanted}.`
}
