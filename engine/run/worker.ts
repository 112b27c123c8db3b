import { parentPort } from 'node:worker_threads'
import type { Arena, Batch } from '../arrow/batch.ts'
import { loadDuckDb } from '../arrow/ffi.ts'
import { NativeReader } from '../arrow/native.ts'
import { openEncoder } from '../encode/formats.ts'
import { type Piece, PieceEncoder, type Recipe } from './piece.ts'
import type { Chunk } from './source.ts'

/** What the pool sends: chunks to encode (with the recipe, the first time), or that an export is over. */
export type Job =
  | {
      readonly kind: 'encode'
      readonly id: number
      readonly exportId: number
      readonly recipe: Recipe | undefined
      readonly chunks: readonly Chunk[]
      readonly first: number
    }
  | { readonly kind: 'forget'; readonly exportId: number }

/** What comes back for an `encode`. */
export type Answer = { readonly id: number } & ({ readonly piece: Piece } | { readonly error: unknown })

interface Open {
  readonly encoder: Promise<PieceEncoder>
  readonly decode: (chunk: Chunk, arena: Arena) => Batch
}

const port = parentPort!
const exports = new Map<number, Open>()
// Importing an encoder takes a moment; jobs of an export must not overtake each other meanwhile.
let last: Promise<void> = Promise.resolve()

port.on('message', (job: Job) => {
  last = last.then(() => work(job))
})

async function work(job: Job): Promise<void> {
  if (job.kind === 'forget') {
    exports.delete(job.exportId)
    return
  }
  let undecoded = job.chunks
  try {
    if (job.recipe) exports.set(job.exportId, open(job.recipe))
    const { encoder, decode } = exports.get(job.exportId)!
    const piece = (await encoder).encode(job.chunks, job.first, (chunk, arena) => {
      undecoded = undecoded.slice(1)
      return decode(chunk, arena)
    })
    const answer: Answer = { id: job.id, piece }
    port.postMessage(answer, [piece.bytes.buffer])
  } catch (error) {
    for (const chunk of undecoded) {
      if (chunk.kind === 'native') loadDuckDb().destroyChunk(chunk.address)
    }
    const answer: Answer = { id: job.id, error }
    port.postMessage(answer)
  }
}

function open({ format, columns, options }: Recipe): Open {
  const types = columns.map((column) => column.type)
  let reader: NativeReader | undefined
  return {
    encoder: openEncoder(format, columns, options).then((encoder) => new PieceEncoder(encoder)),
    decode: (chunk, arena) => {
      if (chunk.kind === 'batch') return chunk.batch
      reader ??= new NativeReader(loadDuckDb(), types, arena)
      return reader.read(chunk.options, chunk.address)
    },
  }
}
