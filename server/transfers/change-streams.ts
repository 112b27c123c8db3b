import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Changes, EncodeOptions, Engine, QueryOptions } from '../../engine/index.ts'
import type { Semaphore } from '../../engine/util/semaphore.ts'
import type { Usage } from '../accounts/plans.ts'
import { errorAnswer } from '../http/errors.ts'
import { FORMAT_FACTS } from './formats.ts'
import { slotInTurn, stopping, Transfer, type TransferParts, transferSlots } from './transfer.ts'

type Batches = ReturnType<Awaited<ReturnType<Engine['dataset']>>['followChanges']>

/** A stream of changes that is asked for. */
interface Follow {
  readonly open: (signal: AbortSignal) => Batches
  /** The options of the query, for the rows of each batch. */
  readonly window: QueryOptions
  readonly encoding: EncodeOptions | undefined
  /** Whether it is sent as server-sent events. */
  readonly asEvents: boolean
  /** Throws if the sender may no longer read the dataset. */
  readonly requireRight: () => Promise<unknown>
}

interface StreamParts extends TransferParts {
  readonly usage: Usage
  /** Those of downloads, of which each batch takes one while it is read. */
  readonly downloads: Semaphore
}

/** How often to look whether the sender may still read, and whether the server is being stopped. */
export const CHECK_MS = 1_000

/** How a stream is written. A batch is all rows between two lines that say it is complete. */
interface Framing {
  readonly contentType: string
  readonly rows: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>
  /** All changes up to a version have been sent. */
  readonly complete: (version: number, names: Changes['names']) => string
  readonly alive: (version: number, names: Changes['names']) => string
  /** Why the stream ends. */
  readonly end: (error: object, version: number, names: Changes['names']) => string
}

/** Lines of JSON. */
const LINES: Framing = {
  contentType: FORMAT_FACTS.ndjson.contentType,
  rows: (bytes) => bytes,
  complete: (version, names) => lineOf('complete', version, names),
  alive: (version, names) => lineOf('complete', version, names),
  end: (error, version, names) => lineOf('end', version, names, error),
}

function lineOf(what: string, version: number, [change, number]: Changes['names'], more?: object): string {
  return `${JSON.stringify({ [change]: what, [number]: version, ...more })}\n`
}

/**
 * Server-sent events (HTML, 9.2), one for each row. Only the last of a batch has an id, which is what the client sends as
 * `Last-Event-ID` when it comes again: a batch that was cut off is sent again whole. An event of an id alone says that no
 * row has changed up to a version.
 */
const EVENTS: Framing = {
  contentType: 'text/event-stream',
  rows: rowEvents,
  complete: (version) => `id: ${version}\n\n`,
  alive: () => ':\n\n',
  // Behind a row that waits for what follows it.
  end: (error) => `\nevent: end\ndata: ${JSON.stringify(error)}\n\n`,
}

const EVENT = 'event: change\ndata: '

/** The events of rows. The last one is not ended, so that an id may follow. */
async function* rowEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let before = EVENT
  for await (const chunk of bytes) {
    if (chunk.byteLength === 0) continue
    const text = Buffer.from(chunk).toString('latin1')
    yield Buffer.from(before + text.replace(/\n(?!$)/g, `\n\n${EVENT}`), 'latin1')
    before = text.endsWith('\n') ? `\n${EVENT}` : ''
  }
}

/**
 * Sends the changes of a dataset as they happen, until the client leaves, the sender may no longer read, or the server is
 * stopped. Nothing is read for a client that does not take what was sent, and its connection is cut.
 */
export class ChangeStreams {
  readonly slots: Semaphore
  readonly #parts: StreamParts

  constructor(parts: StreamParts) {
    this.#parts = parts
    this.slots = transferSlots('streams', parts.config)
  }

  /** Answers a request. Everything that can be refused is refused before the first byte. */
  async send(request: FastifyRequest, reply: FastifyReply, follow: Follow): Promise<FastifyReply> {
    const transfer = new Transfer(request, reply, this.#parts)
    const framing = follow.asEvents ? EVENTS : LINES
    try {
      await transfer.enter(this.slots)
      const batches = follow.open(transfer.signal)
      transfer.onClose(async () => void (await batches.return(undefined as never).catch(() => {})))
      const { value: first } = await batches.next()
      first.query(follow.window)[Symbol.dispose]()
      reply.headers({ 'content-type': framing.contentType, 'cache-control': 'no-store' })
      // A proxy must not wait for more.
      reply.header('x-accel-buffering', 'no')
      if (request.method === 'HEAD') return reply.send()
      transfer.watchSocket()
      const bytes = this.#bytes(transfer, follow, framing, batches, first)
      return reply.send(Readable.from(bytes, { objectMode: false }))
    } catch (error) {
      const reason = transfer.reason ?? error
      transfer.abort(reason as Error)
      throw reason
    }
  }

  async *#bytes(
    transfer: Transfer,
    follow: Follow,
    framing: Framing,
    batches: Batches,
    first: Changes,
  ): AsyncGenerator<Uint8Array> {
    const { request, signal } = transfer
    let isWhole = true
    let batch = first
    try {
      for (;;) {
        for await (const piece of framing.rows(this.#rows(transfer, batch, follow))) {
          isWhole = false
          yield piece
        }
        yield Buffer.from(framing.complete(batch.next, batch.names))
        isWhole = true
        const coming = batches.next()
        for await (const _ of this.#untilCame(request, coming, follow))
          yield Buffer.from(framing.alive(batch.next, batch.names))
        batch = (await coming).value
      }
    } catch (error) {
      if (signal.aborted) return
      // In the middle of a batch, only the end of the connection shows that the rest is missing.
      if (!isWhole) throw error
      const { body } = errorAnswer(error)
      if (body.code === 'internal') request.log.error({ err: error }, 'a stream of changes failed')
      yield Buffer.from(framing.end(body, batch.next, batch.names))
    }
  }

  /** Yields each time that a sign of life is due, until the next batch has come. */
  async *#untilCame(
    request: FastifyRequest,
    coming: Promise<unknown>,
    { requireRight }: Follow,
  ): AsyncGenerator<void> {
    const { lifecycle, config } = this.#parts
    const { heartbeat } = config.timeouts
    const step = Math.min(CHECK_MS, heartbeat)
    const isThere = coming.then(() => true)
    // A failure is not lost: whoever waits for it gets it.
    isThere.catch(() => {})
    for (let [came, quiet] = [false, 0]; !came; quiet += step) {
      if (lifecycle.leaving) throw stopping()
      await request.requireStillIn()
      await requireRight()
      if (quiet >= heartbeat) {
        quiet = 0
        yield
      }
      const timer = new AbortController()
      came = await Promise.race([isThere, sleep(step, false, { signal: timer.signal })])
      timer.abort()
    }
  }

  /** The rows of a batch, which are read in the slot of a download and count against the plan. */
  async *#rows(
    { request, signal }: Transfer,
    batch: Changes,
    { window, encoding }: Follow,
  ): AsyncGenerator<Uint8Array> {
    const { usage } = this.#parts
    const { account, trace } = request
    using query = batch.query(window)
    if (query.knownRowCount === 0) return
    // Many streams of one dataset read at the same moment, so each waits for its turn.
    using _slot = await slotInTurn(this.#parts.downloads, account.id, signal)
    const isLimited = Number.isFinite(await usage.remaining(account))
    const reserved = await usage.reserve(account, isLimited ? await query.count({ signal }) : 0)
    let rows = () => 0
    try {
      await using stream = await query.bytes('ndjson', { ...encoding, signal })
      rows = () => stream.rows()
      for await (const piece of stream) {
        trace.bytes = (trace.bytes ?? 0) + piece.byteLength
        yield piece
      }
    } finally {
      trace.rows = (trace.rows ?? 0) + rows()
      reserved.settle(rows())
    }
  }
}
