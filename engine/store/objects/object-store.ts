import { EngineError } from '../../errors.ts'

export interface StoredObject {
  readonly key: string
  readonly bytes: number
}

/** What an object is made of. */
export type ObjectBody = { readonly file: string } | { readonly data: Uint8Array }

export interface PutOptions {
  readonly signal?: AbortSignal | undefined
  /** Leave an object alone that is there already, as far as the store can tell. */
  readonly onlyNew?: boolean
}

/**
 * Objects by their keys, each written whole and never changed. Every call has a deadline and tries again by itself what
 * may succeed the next time; where that was in vain it throws EngineError `storage_unavailable`, and the signal's reason
 * where that is aborted.
 */
export interface ObjectStore {
  /** Where it is, for those who run it: `s3://bucket/prefix`. */
  readonly name: string
  /** Resolves when the store has all of it and has checked what arrived. `there`: it was there already. */
  put(key: string, body: ObjectBody, options?: PutOptions): Promise<'stored' | 'there'>
  /** Bytes `from` (inclusive) to `to` (exclusive), all of them. @throws MissingObject */
  get(key: string, from: number, to: number, signal?: AbortSignal): Promise<Uint8Array>
  /** Undefined where there is no such object. */
  head(key: string, signal?: AbortSignal): Promise<{ readonly bytes: number } | undefined>
  /** Resolves also where there was none. */
  remove(key: string): Promise<void>
  /** All objects whose keys begin so, in no particular order. */
  list(prefix: string, signal?: AbortSignal): AsyncGenerator<StoredObject, void, undefined>
  /** Gives up uploads that somebody began before a moment and never ended. Gives how many there were. */
  endUploads(prefix: string, before: Date): Promise<number>
  close(): void
}

/** A store that has no object of this key, or fewer bytes of it than were asked for. */
export class MissingObject extends Error {
  override readonly name = 'MissingObject'
  readonly key: string

  constructor(key: string, options?: ErrorOptions) {
    super(`there is no object ${key}, or it is too short`, options)
    this.key = key
  }
}

/** What a caller hears of a store that is down, too slow, or refuses us: the cause is for the log. */
export function storeUnavailable(cause: unknown): EngineError {
  return new EngineError(
    'storage_unavailable',
    'The store of the rows can not be reached at the moment. Nothing was changed; try again later.',
    { cause },
  )
}
