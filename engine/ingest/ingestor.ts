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
    const isUpload = 'file' in given
    // DuckDB follows links before it decides whether it may open a file, so the file has to be named without links.
    const input = isUpload ? { ...given, file: await realpath(given.file) } : given
    const seconds =
      'file' in input
        ? CPU_SECONDS + (CPU_SECONDS_A_MEGABYTE * (await stat(input.file)).size) / 2 ** 20
        : Number.POSITIVE_INFINITY
    const { reads, writes } = filesOf(input)
    using lent = this.lend([...reads, ...writes])
    const { process } = lent
    process.allowCpu(seconds)
    try {
      return await process.run(name, input, hooks, readingOf(input))
    } catch (error) {
      for (const file of writes) await rm(file, { force: true })
      const isCrash = !process.alive && error instanceof EngineError && error.code === 'invalid_upload'
      if (isUpload || !isCrash) throw error
      throw new EngineError('internal', 'A part makes its reader crash: it is damaged.', { cause: error })
    }
  }
}

/** The fields in which jobs name files. */
interface FileFields {
  readonly file?: string
  readonly part?: string
  readonly parts?: readonly string[]
  readonly like?: readonly string[]
  readonly wanted?: { readonly like?: readonly string[] }
  readonly target?: string
  readonly cuts?: readonly { readonly target: string }[]
}

function filesOf(input: JobInput): { readonly reads: readonly string[]; readonly writes: readonly string[] } {
  const { file = [], part = [], parts = [], like = [], wanted, target = [], cuts = [] } = input as FileFields
  return {
    reads: [file, part, parts, like, wanted?.like ?? []].flat(),
    writes: [target, cuts.map((cut) => cut.target)].flat(),
  }
}

function readingOf(input: JobInput): string {
  if ('file' in input) return `the ${input.format} upload ${input.file}`
  return 'part' in input ? `the part ${input.part}` : `the parts ${input.parts.join(', ')}`
}
