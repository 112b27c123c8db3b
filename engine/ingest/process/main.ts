import { Duck } from '../../duckdb/duck.ts'
import { jobsWith } from '../jobs.ts'
import { duckMemory, serveJobs } from './serve-jobs.ts'
import { readerOptions } from './start.ts'

const { threads, memory, encoding, directory, folders } = readerOptions()
const duck = await Duck.open({
  threads,
  encoding,
  memoryLimit: duckMemory(memory),
  tempDirectory: directory,
  allowedDirectories: folders,
})
serveJobs(jobsWith(duck))
