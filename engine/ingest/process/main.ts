import { Duck } from '../../duckdb/duck.ts'
import { JOBS } from '../jobs.ts'
import type { Hooks } from '../request.ts'
import { duckMemory, readerOptions, serveJobs } from './serve-jobs.ts'

/** Nicer than what answers, as the threads that read for exports are (`lowerPool`). */
const NICENESS = 5

const { threads, memory, encoding, directory, folders } = readerOptions(NICENESS)
const duck = await Duck.open({
  threads,
  encoding,
  memoryLimit: duckMemory(memory),
  tempDirectory: directory,
  allowedDirectories: folders,
})
const jobs = Object.entries(JOBS).map(([name, job]) => [
  name,
  (input: never, hooks: Hooks) => job(duck, input, hooks),
])
serveJobs(Object.fromEntries(jobs))
