import { type Handle, nearest } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import type { Member, Permission } from '../records/index.ts'
import type { Account } from './accounts.ts'

/** What an account may do with a repository. Only the owner and admins may give rights to others. */
export type Right = Permission | 'Own'

/** In the order in which names without an owner are looked for. */
export const RELATIONS = ['own', 'shared', 'other'] as const
export type Relation = (typeof RELATIONS)[number]

/** A repository as one account sees it. */
export interface RepositoryAccess {
  readonly repositoryId: number
  /** Its plan counts for all that is in the repository. */
  readonly owner: Pick<Account, 'id' | 'name' | 'plan'>
  readonly private: boolean
  /** Its own, shared with it as a member, or of somebody else: public, or seen by an admin. */
  readonly relation: Relation
  /** undefined if the account may not even read it. */
  readonly right: Right | undefined
}

// Repositories that were made without the server, by the library or a command, belong to the first admin and are
// private.
const SELECT = `
  SELECT r.id AS "repositoryId", a.id, a.name, a.plan, coalesce(o.private, 1) AS private,
    m.permission AS permission
  FROM repositories r
  LEFT JOIN repository_owners o ON o.repository_id = r.id
  JOIN accounts a ON a.id = coalesce(o.account_id, (SELECT id FROM accounts ORDER BY admin DESC, id LIMIT 1))
  LEFT JOIN repository_members m ON m.repository_id = r.id AND m.account_id = ?`

const OWNED = `repository_owners o JOIN datasets d ON d.repository_id = o.repository_id
  WHERE o.account_id = ? AND d.id <> ?`

// Past versions that are kept take room, too; files that others keep do not.
const STORED = `
  SELECT CAST(sum(p.bytes) AS BIGINT) AS bytes FROM parts p
  WHERE p.attached IS NULL AND p.id IN (SELECT r.part_id FROM part_ranges r WHERE r.dataset_id IN (SELECT d.id FROM ${OWNED}))`

const PARTIES = `(SELECT repository_id, account_id FROM repository_owners
  UNION SELECT repository_id, account_id FROM repository_members)`

/** The accounts that own or are members of a repository that an account owns or is a member of. */
const COLLEAGUES = `SELECT DISTINCT a.name FROM accounts a JOIN ${PARTIES} p ON p.account_id = a.id
  WHERE a.id <> ? AND p.repository_id IN (SELECT o.repository_id FROM ${PARTIES} o WHERE o.account_id = ?)`

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
  async of(repositoryId: number, account: Account): Promise<RepositoryAccess> {
    const { id, admin } = account
    const seen = await this.#handle.cached(`access of ${id} ${admin} to ${repositoryId}`, async () => {
      const row = await this.#handle.get<AccessRow>(`${SELECT} WHERE r.id = ?`, id, repositoryId)
      if (!row) {
        const where = 'GET /repositories lists those that you may read'
        throw new ServerError('not_found', `There is no repository ${repositoryId}; ${where}.`)
      }
      return accessOf(row, account)
    })
    return limitedTo(seen, account)
  }

  /** Every repository that an account may read, by id: its own first, then those shared with it, then the others. */
  async readable(account: Account): Promise<Map<number, RepositoryAccess>> {
    const rows = await this.#handle.all<AccessRow>(`${SELECT} ORDER BY r.id`, account.id)
    const all = rows.map((row) => limitedTo(accessOf(row, account), account)).filter(({ right }) => right)
    const sorted = RELATIONS.flatMap((one) => all.filter(({ relation }) => relation === one))
    return new Map(sorted.map((access) => [access.repositoryId, access]))
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

  privateRepositories(ownerId: number): Promise<number> {
    return this.#repositories(ownerId, 1)
  }

  publicRepositories(ownerId: number): Promise<number> {
    return this.#repositories(ownerId, 0)
  }

  async #repositories(ownerId: number, isPrivate: 0 | 1): Promise<number> {
    const sql = 'SELECT count(*) AS n FROM repository_owners WHERE account_id = ? AND private = ?'
    return (await this.#handle.get<{ n: number }>(sql, ownerId, isPrivate))!.n
  }

  /** The bytes on disk of the datasets in the repositories of an account; one dataset may be left out. */
  async storedBytes(ownerId: number, without = 0): Promise<number> {
    return (await this.#handle.get<{ bytes: number | null }>(STORED, ownerId, without))?.bytes ?? 0
  }

  /** How many datasets are in the repositories of an account. */
  async datasets(ownerId: number): Promise<number> {
    const sql = `SELECT count(*) AS n FROM ${OWNED}`
    return (await this.#handle.get<{ n: number }>(sql, ownerId, 0))!.n
  }

  /** Members, and names without an account that earlier releases took. */
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

  /**
   * @param by who asks; names of accounts are suggested only of those that share a repository, or to an admin
   * @throws ServerError `not_found` if there is no such account
   */
  async setMember(
    repositoryId: number,
    name: string,
    permission: Permission,
    by?: Pick<Account, 'id' | 'admin'>,
  ): Promise<void> {
    const changes = await this.#handle.run(
      `INSERT INTO repository_members SELECT ?, id, ? FROM accounts WHERE name = ?
       ON CONFLICT (repository_id, account_id) DO UPDATE SET permission = excluded.permission`,
      repositoryId,
      permission,
      name,
    )
    if (changes > 0) return
    const accounts = await (by && !by.admin
      ? this.#handle.all<{ name: string }>(COLLEAGUES, by.id, by.id)
      : this.#handle.all<{ name: string }>('SELECT name FROM accounts'))
    const near = nearest(
      name,
      accounts.map((one) => one.name),
    )
    const hint = near === undefined ? '' : ` Did you mean ${near}?`
    throw new ServerError('not_found', `There is no account ${JSON.stringify(name)}.${hint}`)
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

interface AccessRow extends Pick<Account, 'id' | 'name' | 'plan'> {
  readonly repositoryId: number
  readonly private: 0 | 1
  readonly permission: Permission | null
}

function accessOf(row: AccessRow, account: Account): RepositoryAccess {
  const { repositoryId, id, name, plan, permission } = row
  const isPrivate = row.private === 1
  const right: Right | undefined =
    account.admin || id === account.id ? 'Own' : (permission ?? (isPrivate ? undefined : 'Read'))
  const relation = id === account.id ? 'own' : permission ? 'shared' : 'other'
  return { repositoryId, owner: { id, name, plan }, private: isPrivate, relation, right }
}

/** What a key that is limited to repositories leaves of a right. */
function limitedTo(access: RepositoryAccess, { repositories }: Account): RepositoryAccess {
  return repositories?.includes(access.repositoryId) === false ? { ...access, right: undefined } : access
}

function refusal(repositoryId: number, has: Right | undefined, required: Right): string {
  const repository = `repository ${repositoryId}`
  if (has === undefined) return `You have no access to ${repository}; its owner can make you a member.`
  if (required === 'Own') return `Only the owner of ${repository} may do this.`
  return `You have ${has} permission on ${repository}; this needs ${required}.`
}
