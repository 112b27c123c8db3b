import type {
  Member,
  NewRepository,
  Permission,
  Repository,
  RepositoryChanges,
  RepositoryPatch,
} from '../records/index.ts'
import { type CallOptions, Calls } from './transport.ts'

/** Repositories, which contain datasets, and the members who may read or write them. */
export class Repositories extends Calls {
  /** Lists the repositories that the account may read. */
  list(options: CallOptions = {}): Promise<Repository[]> {
    return this.transport.json({ path: ['repositories'], ...options })
  }

  get(id: number, options: CallOptions = {}): Promise<Repository> {
    return this.transport.json({ path: ['repositories', id], ...options })
  }

  /** Creates a repository. Each call creates another one. */
  create(fields: NewRepository, options: CallOptions = {}): Promise<Repository> {
    return this.transport.json({ method: 'POST', path: ['repositories'], json: fields, ...options })
  }

  update(id: number, fields: RepositoryChanges, options: CallOptions = {}): Promise<Repository> {
    return this.transport.json({ method: 'PUT', path: ['repositories', id], json: fields, ...options })
  }

  /** Changes fields, and removes those that are null. */
  patch(id: number, fields: RepositoryPatch, options: CallOptions = {}): Promise<Repository> {
    return this.transport.json({ method: 'PATCH', path: ['repositories', id], json: fields, ...options })
  }

  /** Deletes a repository and its datasets. */
  delete(id: number, options: CallOptions = {}): Promise<void> {
    return this.transport.json({ method: 'DELETE', path: ['repositories', id], ...options })
  }

  members(id: number, options: CallOptions = {}): Promise<Member[]> {
    return this.transport.json({ path: ['repositories', id, 'members'], ...options })
  }

  /** @param account name of the member's account */
  setMember(id: number, account: string, permission: Permission, options: CallOptions = {}): Promise<Member> {
    const path = ['repositories', id, 'members', account]
    return this.transport.json({ method: 'PUT', path, json: { permission }, ...options })
  }

  removeMember(id: number, account: string, options: CallOptions = {}): Promise<void> {
    const path = ['repositories', id, 'members', account]
    return this.transport.json({ method: 'DELETE', path, ...options })
  }
}
