import { LRUCache } from 'lru-cache'

/** A complete answer with rows, kept to be sent again. */
export interface Answer {
  readonly etag: string
  readonly body: Buffer
  /** The headers that describe the body: Content-Type and Content-Encoding. */
  readonly headers: Readonly<Record<string, string>>
  readonly rows: number
  /** The value of `Row-Count`; undefined if it was not sent. */
  readonly matches: number | undefined
}

/** The most bytes of an answer that is kept. For larger ones, sending costs more than making them again. */
export const SMALL_ANSWER = 256 * 1024

/** Bytes of memory for an entry without its key and body. */
const SMALLEST = 512

/**
 * Keeps answers by version and query. A version never changes, so no answer is ever outdated; for the same reason, only
 * answers may be kept that are whole and have as many rows as were counted. The least recently used ones are removed
 * when there is no room.
 */
export class AnswerCache {
  readonly #kept: LRUCache<string, Answer> | undefined

  /** @param bytes the most bytes of all answers together; 0 keeps none */
  constructor(bytes: number) {
    this.#kept = bytes < SMALLEST ? undefined : new LRUCache({ maxSize: bytes })
  }

  get(key: string | undefined): Answer | undefined {
    return key === undefined ? undefined : this.#kept?.get(key)
  }

  keep(key: string | undefined, answer: Answer): void {
    if (key === undefined) return
    this.#kept?.set(key, answer, { size: SMALLEST + 2 * key.length + answer.body.byteLength })
  }

  /** Bytes of all kept answers and their questions. */
  get bytes(): number {
    return this.#kept?.calculatedSize ?? 0
  }
}

/**
 * The key of an answer in the cache; undefined if the query uses `now()`, so that its answer changes with time.
 * @param identity dataset and version
 * @param options the options as the client gave them; their order does not matter
 */
export function cacheKeyOf(identity: string, options: object): string | undefined {
  const asked = JSON.stringify(Object.entries(options).sort(([one], [other]) => (one < other ? -1 : 1)))
  // In JSON, tabs and line ends before the parenthesis are escapes.
  return /now(?:\s|\\[tnrf]|\\u000b)*\(/i.test(asked) ? undefined : `${identity} ${asked}`
}
