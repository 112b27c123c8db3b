import { LRUCache } from 'lru-cache'

/** A whole answer of rows, kept to be given again. */
export interface Answer {
  readonly etag: string
  readonly body: Buffer
  /** Content-Type, Content-Encoding: what the bytes are. */
  readonly headers: Readonly<Record<string, string>>
  readonly rows: number
  /** As `Row-Count` said, where it did. */
  readonly matches: number | undefined
}

/** An answer of more bytes is not kept: it costs more to send than to make. */
export const SMALL_ANSWER = 256 * 1024

/** Of a question and an answer without any rows. */
const SMALLEST = 512

/**
 * Answers by version and question. A version never changes, so none is ever outdated; those asked for least recently
 * give way.
 */
export class Answers {
  readonly #kept: LRUCache<string, Answer> | undefined

  /** `bytes`: of all together; 0 keeps none. */
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

  /** Bytes kept, of answers with their questions. */
  get bytes(): number {
    return this.#kept?.calculatedSize ?? 0
  }
}

/**
 * Names what is asked of a version. undefined where the same words may have another answer a moment later.
 * @param identity dataset and version
 * @param options as they were given, in any order
 */
export function questionOf(identity: string, options: object): string | undefined {
  const asked = JSON.stringify(Object.entries(options).sort(([one], [other]) => (one < other ? -1 : 1)))
  return /\bnow\s*\(/i.test(asked) ? undefined : `${identity} ${asked}`
}
