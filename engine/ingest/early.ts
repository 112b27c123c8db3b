import type { JobHooks, JobId, ScanInput } from './process/jobs.ts'
import type { ReaderProcess } from './process/reader-process.ts'
import type { LentReader } from './process/readers.ts'
import { WHOLE } from './process/start.ts'

/** A scan that began before the whole file was there, and the reader that does it. */
export class EarlyReading implements Disposable {
  readonly job: JobId
  /** @throws EngineError what is wrong already with the beginning of the file */
  readonly begun: Promise<void>
  readonly #lent: LentReader
  readonly #leave: () => void

  constructor(lent: LentReader, input: ScanInput, hooks: JobHooks, leave: () => void) {
    this.#lent = lent
    this.#leave = leave
    const { job, result } = lent.process.start('scanEarly', input, hooks)
    this.job = job
    this.begun = result
  }

  get process(): ReaderProcess {
    return this.#lent.process
  }

  /** So much of the file can be read; `WHOLE`: all of it. */
  arrived(bytes: number): void {
    this.process.tell({ kind: 'arrived', job: this.job, bytes })
  }

  /** Ends the scan, and gives the reader back. */
  [Symbol.dispose](): void {
    this.process.tell({ kind: 'abort', job: this.job })
    this.#lent[Symbol.dispose]()
    this.#leave()
  }
}

/** A smaller upload is whole before a scan of its beginning could be under way. */
const ENOUGH = 8 << 20

/** An upload whose scan begins while it still arrives, so that little is left to do behind its last byte. */
export class Arriving implements Disposable {
  readonly #begin: () => Promise<EarlyReading | undefined>
  #reading: Promise<EarlyReading | undefined> | undefined
  /** The same, once it has begun. */
  #begun: EarlyReading | undefined
  #bytes = 0

  /** @param begin starts the scan of a file of which enough is there */
  constructor(begin: () => Promise<EarlyReading | undefined>) {
    this.#begin = begin
  }

  /** So much of the file can be read. */
  reached(bytes: number): void {
    this.#bytes = bytes
    this.#begun?.arrived(bytes)
    if (bytes >= ENOUGH) this.#reading ??= this.#start()
  }

  /** The file is whole. Gives the scan, if it has begun. */
  whole(): Promise<EarlyReading | undefined> | undefined {
    this.reached(WHOLE)
    return this.#reading
  }

  /** Ends a scan that nobody waits for. */
  [Symbol.dispose](): void {
    this.#reading?.then((reading) => reading?.[Symbol.dispose]())
  }

  async #start(): Promise<EarlyReading | undefined> {
    try {
      this.#begun = await this.#begin()
      this.#begun?.arrived(this.#bytes)
      return this.#begun
    } catch {
      // Whatever keeps a scan from beginning is found again, and told, when the whole file is looked at.
      return undefined
    }
  }
}
