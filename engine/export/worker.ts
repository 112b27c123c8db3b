import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { Chunk, Fetched, NativeChunk } from '../duckdb/cursor.ts'
import { loadDuckDb } from '../duckdb/native/ffi.ts'
import { NativeReader } from '../duckdb/native/native-reader.ts'
import { NativeSection } from '../util/concurrency.ts'
import { type PlainError, plainError } from '../util/plain-error.ts'
import { type ChunkReader, encodePiece, openEncoder, type Piece, PieceMemory, type Recipe } from './encode.ts'
import type { Encoder } from './formats/encoder.ts'

/**
 * What the pool sends to a worker: chunks to encode (`encode`), rows to fetch and encode (`turn`), the news that an
 * export is over (`forget`), or memory of a piece to use again (`memory`). An export's first job brings the recipe.
 */
export type Job =
  | {
      readonly kind: 'encode'
      readonly id: number
      readonly exportId: number
      readonly recipe: Recipe | undefined
      readonly chunks: readonly Chunk[]
      readonly first: number
    }
  | {
      readonly kind: 'turn'
      readonly id: number
      readonly exportId: number
      readonly recipe: Recipe | undefined
      /** The address of the result. */
      readonly result: bigint
      /** The worker stops fetching after this many rows, or a few more, so that another worker can fetch the next. */
      readonly rows: number
      readonly first: number
    }
  | { readonly kind: 'forget'; readonly exportId: number }
  | { readonly kind: 'memory'; readonly memory: ArrayBuffer }

/**
 * What a worker sends back; a `turn` is answered twice, the first time when the next turn may begin.
 */
export type Answer = { readonly id: number } & (
  | { readonly piece: Piece }
  | { readonly fetched: Fetched }
  | { readonly failure: PlainError }
)

interface Open {
  readonly encoder: Promise<Encoder>
  readonly reader: ChunkReader
}

// Encoding should only use the processor time that the thread answering requests leaves over. On Linux this sets the
// priority of the calling thread alone (setpriority(2), NOTES); elsewhere it would be that of the whole process. A
// sandbox may refuse it; then the worker keeps the usual priority.
// That is not enough: a thread that has something to do waits for the scheduler's next tick (4 ms) before it displaces
// one that is running, even one of a lower priority. So this thread offers its core before each chunk.
if (process.platform === 'linux') {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {}
}

const port = parentPort!
const native = new NativeSection(workerData)
const exports = new Map<number, Open>()
const memory = new PieceMemory()
// Importing an encoder takes a moment; jobs of an export must not overtake each other meanwhile.
let last: Promise<void> = Promise.resolve()

// The modules that most exports need are loaded before the first job comes. A failure is ignored here,
// because the first job meets it again.
setImmediate(() => {
  try {
    native.run(loadDuckDb)
  } catch {}
  void Promise.allSettled([import('./formats/csv.ts'), import('./formats/json.ts')])
})

port.on('message', (job: Job) => {
  if (job.kind === 'memory') memory.takeBack(job.memory)
  else last = last.then(() => work(job))
})

async function work(job: Exclude<Job, { kind: 'memory' }>): Promise<void> {
  if (job.kind === 'forget') {
    exports.delete(job.exportId)
    return
  }
  try {
    if (job.recipe) exports.set(job.exportId, open(job.recipe))
    const { encoder, reader } = exports.get(job.exportId)!
    const opened = await encoder.catch((error) => {
      if (job.kind === 'encode') for (const chunk of job.chunks) reader.discard(chunk)
      throw error
    })
    const chunks = job.kind === 'turn' ? native.run(() => fetchChunks(job)) : job.chunks
    const piece = native.run(() => encodePiece(opened, memory, chunks, job.first, reader))
    const answer: Answer = { id: job.id, piece }
    port.postMessage(answer, [piece.bytes.buffer])
  } catch (error) {
    const answer: Answer = { id: job.id, failure: plainError(error) }
    port.postMessage(answer)
  }
}

function fetchChunks({ id, result, rows: most }: Extract<Job, { kind: 'turn' }>): NativeChunk[] {
  const duckdb = loadDuckDb()
  const chunks: NativeChunk[] = []
  let rows = 0
  let ended = false
  try {
    while (rows < most && !ended) {
      const address = duckdb.fetchHere(result)
      ended = address === undefined
      if (address === undefined) continue
      const chunk = { kind: 'native', rows: duckdb.chunkRows(address), address } as const
      chunks.push(chunk)
      rows += chunk.rows
    }
  } catch (error) {
    for (const { address } of chunks) duckdb.destroyChunk(address)
    throw error
  }
  const answer: Answer = { id, fetched: { rows, ended } }
  port.postMessage(answer)
  return chunks
}

function open({ format, columns, options }: Recipe): Open {
  const types = columns.map((column) => column.type)
  let rows: NativeReader | undefined
  return {
    encoder: openEncoder(format, columns, options),
    reader: {
      decode: (chunk, arena) => {
        if (chunk.kind === 'batch') return chunk.batch
        loadDuckDb().yieldCore()
        rows ??= new NativeReader(loadDuckDb(), types)
        return rows.read(chunk.address, arena)
      },
      discard: (chunk) => {
        if (chunk.kind === 'native') loadDuckDb().destroyChunk(chunk.address)
      },
    },
  }
}
