import { realpath, rm, stat } from 'node:fs/promises'
import { EngineError } from '../errors.ts'
import type { JobInput, JobName, Jobs } from './jobs.ts'
import { ReaderPool, type ReadersOptions } from './process/reader-pool.ts'
import type { Hooks } from './request.ts'

/**
 * How much CPU time reading an upload may take. It grows with the size of the file, since a file of a megabyte may
 * unpack to a gigabyte, but one of a kilobyte may not.
 */
const CPU_SECONDS = 60
const CPU_SECONDS_A_MEGABYTE = 4

/**
 * Turns uploads into Parquet parts, and parts into others. All of this happens in child processes, one job at a time in
 * each, so that no byte of an upload reaches native code of this process.
 */
export class Ingestor extends ReaderPool {
  /** The jobs, each run in a reader process (`jobs.ts`). */
  readonly jobs: Jobs

  constructor(options: ReadersOptions) {
    super(options)
    const call = (name: JobName) => (input: JobInput, hooks?: Hooks) => this.#run(name, input, hooks)
    this.jobs = new Proxy({} as Jobs, { get: (_, name) => call(name as JobName) })
  }

  async #run(name: JobName, given: JobInput, hooks: Hooks = {}): Promise<unknown> {
    // DuckDB follows links before it decides whether it may open a file, so the file has to be named without links.
    const file = 'file' in given ? await realpath(given.file) : undefined
    const input = 'file' in given ? { ...given, file: file! } : given
    const seconds =
      file === undefined
        ? Number.POSITIVE_INFINITY
        : CPU_SECONDS + (CPU_SECONDS_A_MEGABYTE * (await stat(file)).size) / 2 ** 20
    using lent = this.lend(file)
    const { process } = lent
    process.allowCpu(seconds)
    try {
      return await process.run(name, input, hooks, readingOf(input))
    } catch (error) {
      for (const written of filesWritten(input)) await rm(written, { force: true })
      const isCrash = !process.alive && error instanceof EngineError && error.code === 'invalid_upload'
      if (file !== undefined || !isCrash) throw error
      throw new EngineError('internal', 'A part makes its reader crash: it is damaged.', { cause: error })
    }
  }
}

function filesWritten(input: JobInput): readonly string[] {
  if ('cuts' in input) return input.cuts.map(({ target }) => target)
  return 'target' in input ? [input.target] : []
}

function readingOf(input: JobInput): string {
  if ('file' in input) return `the ${input.format} upload ${input.file}`
  if ('bodies' in input) return `${input.bodies.length} small uploads`
  return 'part' in input ? `the part ${input.part}` : `the parts ${input.parts.join(', ')}`
}
