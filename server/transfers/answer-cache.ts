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

/** Bytes of memory for an entry without its question and body. */
const SMALLEST = 512

/**
 * Keeps answers by version and question. A version never changes, so no answer is ever outdated. The least recently
 * used ones are removed when there is no room.
 */
export class AnswerCache {
  readonly #kept: LRUCache<string, Answer> | undefined

  /** @param bytes the most bytes of all answers together; 0 keeps none */
  constructor(bytes: number) {
    this.#kept = bytes < SMALLEST ? undefined : new LRUCache({ maxSize: bytes })
  }

  get(question: string | undefined): Answer | undefined {
    return question === undefined ? undefined : this.#kept?.get(question)
  }

  keep(question: string | undefined, answer: Answer): void {
    if (question === undefined) return
    this.#kept?.set(question, answer, { size: SMALLEST + 2 * question.length + answer.body.byteLength })
  }

  /** Bytes of all kept answers and their questions. */
  get bytes(): number {
    return this.#kept?.calculatedSize ?? 0
  }
}

/**
 * A name for a question to a version; undefined if it uses `now()`, so that its answer may change from moment to
 * moment.
 * @param identity dataset and version
 * @param options the options as the client gave them; their order does not matter
 */
export function questionOf(identity: string, options: object): string | undefined {
  const asked = JSON.stringify(Object.entries(options).sort(([one], [other]) => (one < other ? -1 : 1)))
  // In JSON, tabs and line ends before the parenthesis are escapes.
  return /now(?:\s|\\[tnrf]|\\u000b)*\(/i.test(asked) ? undefined : `${identity} ${asked}`
}
