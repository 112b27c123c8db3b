import type { JobHooks, JobId, ScanInput } from './process/jobs.ts'
import type { ReaderProcess } from './process/reader-process.ts'
import type { LentReader } from './process/reader-processes.ts'
import { WHOLE } from './process/start.ts'

/** A scan that began before all of the file had arrived, and the reader that does it. */
export class EarlyReading implements Disposable {
  readonly job: JobId
  /** Resolves when the scan is under way. @throws EngineError if the beginning of the file is already wrong */
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

  /** Tells the reader how many bytes of the file can be read by now; `WHOLE` stands for all of them. */
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

/** A scan begins early from this many bytes on. Smaller uploads have arrived before such a scan could be under way. */
const ENOUGH = 8 << 20

/** An upload whose scan begins while it still arrives, so that little is left to do after its last byte. */
export class Arriving implements Disposable {
  readonly #begin: () => Promise<EarlyReading | undefined>
  #reading: Promise<EarlyReading | undefined> | undefined
  /** What `#reading` resolved to; undefined until then. */
  #begun: EarlyReading | undefined
  #bytes = 0

  /** @param begin starts the scan; it is called once enough of the file has arrived */
  constructor(begin: () => Promise<EarlyReading | undefined>) {
    this.#begin = begin
  }

  /** To be called when this many bytes of the file can be read. */
  reached(bytes: number): void {
    this.#bytes = bytes
    this.#begun?.arrived(bytes)
    if (bytes >= ENOUGH) this.#reading ??= this.#start()
  }

  /** To be called when all of the file can be read. Returns the scan if one has begun. */
  whole(): Promise<EarlyReading | undefined> | undefined {
    this.reached(WHOLE)
    return this.#reading
  }

  /** Ends the scan, if one has begun, and gives its reader back. */
  [Symbol.dispose](): void {
    this.#reading?.then((reading) => reading?.[Symbol.dispose]())
  }

  async #start(): Promise<EarlyReading | undefined> {
    try {
      this.#begun = await this.#begin()
      this.#begun?.arrived(this.#bytes)
      return this.#begun
    } catch {
      // Reading the whole file will meet the same problem again, and report it.
      return undefined
    }
  }
}
