import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { cancelled } from '../../duckdb/errors.ts'
import { EngineError, storageError } from '../../errors.ts'
import { endMessage, type ProcessOptions, ReaderProcess } from './reader-process.ts'

/** The most readers that are kept waiting for their next job: to start one takes a quarter of a second. */
const MOST_IDLE = 3
/**
 * The most resident memory of all readers that are kept waiting. Allocators don't give back all memory after a large job,
 * so it is freed by ending the process. A new reader has about 110 MiB, one that has read 200 MB of csv once or many
 * times 270 to 380. Starting another one takes nearly a second of CPU time.
 */
const MOST_IDLE_MEMORY = 512 * 2 ** 20

export interface ReadersOptions extends Partial<Omit<ProcessOptions, 'directory'>> {
  /** The folder in which each reader has a folder of its own. */
  readonly tempDirectory: string
  /** Is called with a message for the log when a reader died, or was killed because it exceeded a limit. */
  readonly onEnd?: (message: string) => void
}

/** A reader that is lent for one upload, so that no other upload fails if it dies. */
export interface LentReader extends Disposable {
  readonly process: ReaderProcess
}

/** The processes that read uploads. They keep this process from ending only while they work. */
export class ReaderPool {
  readonly #options: ReadersOptions
  /** The folders in which readers that are started from now on may open files. */
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

  /** All readers that run. */
  get readers(): readonly ReaderProcess[] {
    return [...this.#all]
  }

  /** Starts a reader for the next upload, unless one is idle. If it can't start, that upload tries again. */
  warm(): void {
    if (this.#closed || this.#idle.length > 0) return
    try {
      this.#idle.push(this.#start())
    } catch (error) {
      this.#options.onEnd?.(`A reader could not be started: ${(error as Error).message}`)
    }
  }

  /**
   * Lends a reader whose own folder is empty.
   * @param file the upload that it is to read, which may be in any folder
   * @throws EngineError `storage_full`, `cancelled` once closed
   */
  lend(file?: string): LentReader {
    if (this.#closed) throw cancelled(undefined)
    if (file !== undefined && !isInside(file, [...this.#folders])) this.#folders.add(dirname(resolve(file)))
    const process = this.#takeIdle(file) ?? this.#startNow()
    // The limit of an upload that it read before is not for other jobs.
    process.allowCpu(Number.POSITIVE_INFINITY)
    const { directory } = process
    try {
      mkdirSync(directory, { mode: 0o700, recursive: true })
    } catch (error) {
      this.#idle.push(process)
      throw storageError(error)
    }
    return {
      process,
      [Symbol.dispose]: () => {
        rmSync(directory, { recursive: true, force: true })
        const memory = this.#idle.reduce((sum, idle) => sum + idle.memory, process.memory)
        const fits = this.#idle.length < MOST_IDLE && memory < MOST_IDLE_MEMORY
        if (process.alive && fits && !this.#closed && process.restore()) this.#idle.push(process)
        else {
          process.kill()
          this.warm()
        }
      },
    }
  }

  /** Kills all readers, even those that are working. */
  async close(): Promise<void> {
    this.#closed = true
    const all = [...this.#all]
    for (const process of all) process.kill()
    await Promise.all(all.map((process) => process.ended))
  }

  /** An idle reader that can open this file. One started before its folder was known can't, so it is killed. */
  #takeIdle(file: string | undefined): ReaderProcess | undefined {
    for (;;) {
      const process = this.#idle.pop()
      if (!process) return undefined
      const reaches = file === undefined || isInside(file, process.folders)
      if (process.alive && reaches) return process
      process.kill()
    }
  }

  /** @throws EngineError `overloaded` */
  #startNow(): ReaderProcess {
    try {
      return this.#start()
    } catch (error) {
      throw new EngineError('overloaded', 'No process could be started. Try again later.', { cause: error })
    }
  }

  #start(): ReaderProcess {
    const { tempDirectory, onEnd, memory = usualMemory(), encoding = 'compact', ...others } = this.#options
    const directory = join(tempDirectory, `reader-${randomUUID()}`)
    const process = new ReaderProcess({
      ...others,
      memory,
      encoding,
      directory,
      folders: [...this.#folders],
    })
    this.#all.add(process)
    process.ended.then((end) => {
      this.#all.delete(process)
      if (end.why !== 'done') onEnd?.(endMessage(end))
    })
    return process
  }
}

function isInside(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => resolve(file).startsWith(folder.endsWith(sep) ? folder : folder + sep))
}

/** An eighth of the machine's memory, but at least enough for a large upload and at most what one can use. */
function usualMemory(): number {
  return Math.min(Math.max(totalmem() / 8, 768 * 2 ** 20), 2 ** 31)
}
