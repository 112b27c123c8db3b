import type { CsvFindings } from './csv/scan.ts'
import type { ScanCsv } from './csv/tasks.ts'
import { type Arrival, arrived, arrivedWhole, newArrival } from './threads/arrival.ts'

/** A scan that began before the whole file was there. */
export interface EarlyScan {
  readonly scan: ScanCsv
  readonly findings: Promise<CsvFindings>
}

/** A smaller upload is whole before a scan of its beginning could be under way. */
const ENOUGH = 8 << 20

/** An upload whose scan begins while it still arrives, so that little is left to do behind its last byte. */
export class Arriving implements Disposable {
  readonly #arrival = newArrival()
  readonly #giveUp = new AbortController()
  readonly #begin: (arrival: Arrival, signal: AbortSignal) => Promise<EarlyScan | undefined>
  #scan: Promise<EarlyScan | undefined> | undefined

  /** @param begin starts the scan of a file of which enough is there */
  constructor(begin: (arrival: Arrival, signal: AbortSignal) => Promise<EarlyScan | undefined>) {
    this.#begin = begin
  }

  /** So much of the file can be read. */
  reached(bytes: number): void {
    arrived(this.#arrival, bytes)
    // Whatever keeps a scan from beginning is found again, and told, when the whole file is looked at.
    if (bytes >= ENOUGH) this.#scan ??= this.#begin(this.#arrival, this.#giveUp.signal).catch(() => undefined)
  }

  /** The file is whole. Gives the scan, if it has begun. */
  whole(): Promise<EarlyScan | undefined> | undefined {
    arrivedWhole(this.#arrival)
    return this.#scan
  }

  /** Ends a scan that nobody waits for. */
  [Symbol.dispose](): void {
    this.#giveUp.abort()
  }
}
