import { EngineError } from '../../errors.ts'

export interface StoredObject {
  readonly key: string
  readonly bytes: number
}

/** Requests to a store since the start, each attempt by itself. */
export interface RequestStats {
  readonly requests: number
  /** Those without an answer, and those that the store refused or could not serve. */
  readonly failedRequests: number
  /** Until the head of the answer, of all requests together. */
  readonly requestSeconds: number
}

/** The content of an object: a file, or bytes in memory. */
export type ObjectBody = { readonly file: string } | { readonly data: Uint8Array }

export interface PutOptions {
  /** Don't overwrite an existing object, if the store supports that condition. */
  readonly onlyNew?: boolean
  /** Overwrite only the version of the object with this tag, if the store supports that condition. */
  readonly replaces?: string
}

/** The error that a store has no object of this key, or that the object has fewer bytes than were asked for. */
export class MissingObject extends Error {
  override readonly name = 'MissingObject'
  readonly key: string

  constructor(key: string, options?: ErrorOptions) {
    super(`there is no object ${key}, or it is too short`, options)
    this.key = key
  }
}

/** The error for a store that is down, too slow, or refuses our requests. Its cause is meant for the log only. */
export function storeUnavailable(cause: unknown): EngineError {
  return new EngineError(
    'storage_unavailable',
    'The store of the rows can not be reached at the moment. Nothing was changed; try again later.',
    { cause },
  )
}
