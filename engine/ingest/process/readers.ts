import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { cancelled } from '../../duckdb/errors.ts'
import { storageFull } from '../../util/storage-full.ts'
import { endMessage } from './ends.ts'
import { ReaderProcess } from './reader-process.ts'

/** Readers that wait for their next job; to start one takes a quarter of a second. */
const MOST_IDLE = 2
/** What an allocator doesn't give back after a large job goes with its process. */
const MOST_IDLE_MEMORY = 400 * 2 ** 20

export interface ReadersOptions {
  /** Threads of each reader's DuckDB. */
  readonly threads?: number
  /** Bytes that a reader may have resident. */
  readonly memory?: number
  /** Each reader has a folder in it. */
  readonly tempDirectory: string
  /** Where parts lie. A reader's DuckDB opens files here, in its own folder, and beside the file that it is to read. */
  readonly folders?: readonly string[]
  /** Hears of readers that died, or had to be ended. */
  readonly onEnd?: (message: string) => void
}

/** A reader that is lent for one upload, so that no other one dies with it. */
export interface LentReader extends Disposable {
  readonly process: ReaderProcess
}

/** A reader as others see it. */
export interface ReaderState {
  readonly pid: number | undefined
  /** Bytes resident, as it last told. */
  readonly memory: number
}

/** The processes that read uploads. They hold this one open only while they work. */
export class Readers {
  readonly #options: ReadersOptions
  /** Where readers that start from now on may open files. */
  readonly #folders: Set<string>
  readonly #idle: ReaderProcess[] = []
  readonly #all = new Set<ReaderProcess>()
  #closed = false

  constructor(options: ReadersOptions) {
    this.#options = options
    this.#folders = new Set(
      [options.tempDirectory, ...(options.folders ?? [])].map((folder) => resolve(folder)),
    )
  }

  /** Those that run. */
  get states(): ReaderState[] {
    return [...this.#all].map(({ pid, memory }) => ({ pid, memory }))
  }

  /** Has a reader ready for the next upload, which is who hears it if it can't start. */
  warm(): void {
    if (this.#closed || this.#idle.length > 0) return
    this.#idle.push(this.#start())
  }

  /**
   * With an empty folder, and with access to the folders of these files.
   * @throws EngineError `storage_full`, `cancelled` once closed
   */
  lend(files: readonly string[] = []): LentReader {
    if (this.#closed) throw cancelled(undefined)
    for (const file of files) {
      if (![...this.#folders].some((folder) => isInside(file, folder)))
        this.#folders.add(dirname(resolve(file)))
    }
    const process = this.#takeIdle(files) ?? this.#start()
    const { directory } = process
    try {
      mkdirSync(directory, { mode: 0o700, recursive: true })
    } catch (error) {
      this.#idle.push(process)
      throw storageFull(error)
    }
    return {
      process,
      [Symbol.dispose]: () => {
        rmSync(directory, { recursive: true, force: true })
        const keep =
          process.alive && this.#idle.length < MOST_IDLE && process.memory < MOST_IDLE_MEMORY && !this.#closed
        if (keep) this.#idle.push(process)
        else {
          process.kill()
          this.warm()
        }
      },
    }
  }

  /** Ends all of them, whatever they do. */
  async close(): Promise<void> {
    this.#closed = true
    const all = [...this.#all]
    for (const process of all) process.kill()
    await Promise.all(all.map((process) => process.ended))
  }

  /** What was started before a folder was known can't be opened to it, so it goes. */
  #takeIdle(files: readonly string[]): ReaderProcess | undefined {
    for (;;) {
      const process = this.#idle.pop()
      if (!process) return undefined
      const reaches = files.every((file) => process.folders.some((folder) => isInside(file, folder)))
      if (process.alive && reaches) return process
      process.kill()
    }
  }

  #start(): ReaderProcess {
    const { tempDirectory, onEnd, threads, memory = usualMemory() } = this.#options
    const directory = join(tempDirectory, `reader-${randomUUID()}`)
    const process = new ReaderProcess({ threads, memory, directory, folders: [...this.#folders] })
    this.#all.add(process)
    process.ended.then((end) => {
      this.#all.delete(process)
      if (end.why !== 'done') onEnd?.(endMessage(end))
    })
    return process
  }
}

function isInside(file: string, folder: string): boolean {
  return resolve(file).startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** An eighth of the machine's memory, but enough for a large upload, and no more than one can use. */
function usualMemory(): number {
  return Math.min(Math.max(totalmem() / 8, 768 * 2 ** 20), 2 ** 31)
}
