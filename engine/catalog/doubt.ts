import { closeSync, fsyncSync, openSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { EngineError } from '../errors.ts'

const PAGE = 4_096

/** Remembers whether the outcome of a commit to SQLite is unknown. It stays unknown until the process ends. */
export class Doubt {
  readonly #file: string
  readonly #onDoubt: (cause: unknown) => void
  #doubt: { readonly cause: unknown } | undefined

  constructor(file: string, onDoubt: (cause: unknown) => void) {
    this.#file = file
    this.#onDoubt = onDoubt
  }

  get exists(): boolean {
    return this.#doubt !== undefined
  }

  /** Records that the outcome is unknown; gives the error for the caller whose change it was. */
  begin(cause: unknown): EngineError {
    if (!this.#doubt) {
      this.#doubt = { cause }
      this.#onDoubt(cause)
    }
    const known = 'is unknown until the service is started again.'
    if (this.#isFull()) {
      return new EngineError('storage_full', `The disk is full, and whether the change was made ${known}`, {
        cause,
      })
    }
    const why = 'The disk failed while the change was written.'
    return new EngineError('outcome_unknown', `${why} Whether it was made ${known}`, { cause })
  }

  /** @throws EngineError `writes_stopped` */
  requireNone(): void {
    if (!this.#doubt) return
    throw new EngineError(
      'writes_stopped',
      'An earlier change could not be written for certain, so nothing is written until the service is started again. Reading goes on.',
      { cause: this.#doubt.cause },
    )
  }

  /** SQLite says only that a sync failed, not why, so this looks for free room and tries a sync itself. */
  #isFull(): boolean {
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#file))
      if (bavail * bsize < PAGE) return true
      const log = openSync(`${this.#file}-wal`, 'r+')
      try {
        fsyncSync(log)
      } finally {
        closeSync(log)
      }
      return false
    } catch (error) {
      return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')
    }
  }
}
