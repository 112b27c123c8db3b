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
  readonly signal?: AbortSignal | undefined
  /** Don't overwrite an existing object, if the store supports that condition. */
  readonly onlyNew?: boolean
  /** Overwrite only the version of the object with this tag, if the store supports that condition. */
  readonly replaces?: string
}

/**
 * A store of objects by their keys. Each object is written as a whole; those of parts are never changed. Every call has
 * a deadline and retries failures that may pass. If that does not help, it throws EngineError `storage_unavailable`; if
 * the signal is aborted, it throws the signal's reason.
 */
export interface ObjectStore {
  /** Its address for operators: `s3://bucket/prefix`. */
  readonly name: string
  /** Resolves when the store has received and checked the whole object. `there`: the condition was not met. */
  put(key: string, body: ObjectBody, options?: PutOptions): Promise<'stored' | 'there'>
  /** Gives all bytes `from` (inclusive) to `to` (exclusive). @throws MissingObject */
  get(key: string, from: number, to: number, signal?: AbortSignal): Promise<Uint8Array>
  /** Gives a small object as a whole, and the tag of this version of it; undefined if it does not exist. */
  read(key: string): Promise<{ readonly data: Uint8Array; readonly tag: string } | undefined>
  /** Gives the size of an object; undefined if it does not exist. */
  head(key: string, signal?: AbortSignal): Promise<{ readonly bytes: number } | undefined>
  /** Removes an object; resolves also if it did not exist. */
  remove(key: string): Promise<void>
  /** All objects whose keys begin with `prefix`, in no particular order. */
  list(prefix: string, signal?: AbortSignal): AsyncGenerator<StoredObject, void, undefined>
  /** Aborts unfinished uploads that were begun before the given moment. Gives how many there were. */
  endUploads(prefix: string, before: Date): Promise<number>
  /**
   * Resolves if requests to it are answered, and if this process may write there.
   * @param oldest how many milliseconds ago that may have been found
   */
  answers(oldest: number): Promise<void>
  /** Whether it turned out that this process may not write there. */
  readonly isLost: boolean
  readonly requests: RequestStats
  close(): void
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
