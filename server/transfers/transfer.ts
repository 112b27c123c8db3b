import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EngineError } from '../../engine/index.ts'
import { counted } from '../../engine/util/counted.ts'
import { crowdedMessage, Semaphore } from '../../engine/util/semaphore.ts'
import type { Config } from '../config/schema.ts'
import { ServerError } from '../http/errors.ts'
import type { Metrics } from '../http/metrics.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route also answers while the server is overloaded or being stopped. */
    always?: boolean
  }
}

/** Knows the requests and transfers under way, and ends them in order when the server is stopped. */
export class Lifecycle {
  #leaving = false
  #stopping = false
  #requests = 0
  readonly #transfers = new Set<AbortController>()
  readonly #idle: (() => void)[] = []

  /** Whether the server will be stopped soon. */
  get leaving(): boolean {
    return this.#leaving
  }

  /** Counts requests under way, and refuses new ones once the server is being stopped. */
  guard(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => {
      this.#requests += 1
      reply.raw.once('close', () => {
        this.#requests -= 1
        if (this.#requests === 0) for (const wake of this.#idle.splice(0)) wake()
      })
      // The next request on a kept connection might come when nobody listens any more.
      if (this.#leaving) reply.header('connection', 'close')
      if (!this.#stopping || request.routeOptions.config.always) return done()
      done(stopping())
    })
  }

  /** Registers a transfer, which is aborted if it has not ended in time when the server is stopped. */
  track(transfer: AbortController): void {
    this.#transfers.add(transfer)
    transfer.signal.addEventListener('abort', () => this.#transfers.delete(transfer), { once: true })
  }

  done(transfer: AbortController): void {
    this.#transfers.delete(transfer)
  }

  /** Gives work a signal that is aborted if it has not ended in time when the server is stopped. */
  async during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    this.track(controller)
    try {
      return await work(controller.signal)
    } catch (error) {
      throw controller.signal.reason ?? error
    } finally {
      this.done(controller)
    }
  }

  /** Says that the server is not ready, and goes on for so many milliseconds. */
  async leave(milliseconds: number): Promise<void> {
    this.#leaving = true
    if (milliseconds > 0) await sleep(milliseconds)
  }

  /** Refuses new requests, and waits until those under way have ended; aborts transfers after `limit` milliseconds. */
  async drain(limit: number): Promise<void> {
    this.#leaving = true
    this.#stopping = true
    if (this.#requests === 0) return
    const { promise: timeUp, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, limit)
    const idle = new Promise<void>((wake) => this.#idle.push(wake))
    await Promise.race([idle, timeUp])
    clearTimeout(timer)
    for (const transfer of this.#transfers) {
      transfer.abort(new ServerError('shutting_down', 'The server was stopped.'))
    }
  }
}

/** One of this many slots is reserved for accounts that have none, so that a few accounts can't take all slots. */
const ONE_RESERVED_OF = 4

/** The limits of each kind: how many run at once, in all and of one account. */
const SLOTS = {
  downloads: ['exports', 'exportsPerAccount'],
  uploads: ['uploads', 'uploadsPerAccount'],
  'small uploads': ['smallUploads', 'smallUploadsPerAccount'],
  streams: ['streams', 'streamsPerAccount'],
} as const

/** Lets a limited number of transfers run at once, in all and of one account; the others wait for a short time. */
export function transferSlots(kind: keyof typeof SLOTS, { limits, timeouts }: Config): Semaphore {
  const [slots, perHolder] = SLOTS[kind].map((name) => limits[name]) as [number, number]
  return new Semaphore(slots, {
    perHolder,
    reserved: Math.floor(slots / ONE_RESERVED_OF),
    queue: limits.queue,
    wait: timeouts.queue,
    crowded: (crowd) =>
      new ServerError('busy', crowdedMessage(kind, crowd), {
        details: { running: crowd.own, limit: crowd.most },
      }),
  })
}

/** How long to wait for a slot again when too many wait already. */
const PAUSE_MS = 250

/** Waits for the slot of an account however many wait, for a part of a stream. @throws the reason of the signal */
export async function slotInTurn(
  slots: Semaphore,
  accountId: number,
  signal: AbortSignal,
): Promise<Disposable> {
  for (;;) {
    try {
      return await slots.enter(accountId, signal)
    } catch (error) {
      if (!(error instanceof ServerError && error.code === 'busy')) throw error
      await sleep(PAUSE_MS, undefined, { signal })
    }
  }
}

/** The services that downloads and uploads both use. */
export interface TransferParts {
  readonly lifecycle: Lifecycle
  readonly config: Config
  readonly metrics: Metrics
}

type CleanUp = () => void | PromiseLike<void>

const STALL_STEPS = 4

/**
 * One download or upload. Its signal is aborted when the client leaves, a deadline passes, the transfer stalls, or the
 * server is stopped. Its clean-up runs once, when the answer is closed.
 */
export class Transfer {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly #controller = new AbortController()
  readonly #server: Omit<TransferParts, 'metrics'>
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #cleanUps: CleanUp[] = []
  #closed = false
  /** Whether the connection was cut because nothing moved. */
  stalled = false

  constructor(request: FastifyRequest, reply: FastifyReply, server: Omit<TransferParts, 'metrics'>) {
    this.request = request
    this.reply = reply
    this.#server = server
    server.lifecycle.track(this.#controller)
    const longest = server.config.timeouts.transfer
    this.deadline(longest, () => late('The transfer', longest))
    // The client may have left before this was made. Then the event `close` does not come again.
    if (reply.raw.closed) this.#close()
    else reply.raw.once('close', () => this.#close())
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Why the transfer was aborted; undefined if it was not. Errors of the work are then only a consequence. */
  get reason(): unknown {
    return this.signal.reason
  }

  /** Aborts the transfer. If bytes have already been sent, the connection is ended as well. */
  abort(reason: Error): void {
    if (this.signal.aborted) return
    this.#controller.abort(reason)
    if (this.reply.raw.headersSent) this.reply.raw.destroy()
  }

  /** Aborts with an error after some milliseconds, unless the returned function is called before. */
  deadline(milliseconds: number, error: () => Error): () => void {
    const timer = setTimeout(() => this.abort(error()), milliseconds).unref()
    this.#timers.add(timer)
    return () => {
      clearTimeout(timer)
      this.#timers.delete(timer)
    }
  }

  /** Answers 504 if the first byte is not there in time after the request came. Call the returned function when it is. */
  firstByteInTime(): () => void {
    const { firstByte } = this.#server.config.timeouts
    return this.deadline(Math.max(0, firstByte - this.request.trace.elapsed), () =>
      late('The first byte', firstByte, ' Narrow the request with $top, $last, $filter or a date range.'),
    )
  }

  /**
   * Watches the socket. Calls `onStall` when no byte has moved for the milliseconds of the limit although `clientOwes`
   * says that it is the client's turn. For Node, bytes of a pending write that the kernel has accepted count as
   * movement, but Node checks them only when a timeout ends. So the limit is divided into steps, and is exact to within
   * two of them.
   */
  watch(clientOwes: () => boolean, onStall: () => void, limit = this.#server.config.timeouts.stall): void {
    const { raw } = this.reply
    const step = limit / STALL_STEPS
    let quiet = 0
    let last = Number.NEGATIVE_INFINITY
    const check = () => {
      if (this.signal.aborted || raw.writableFinished) return
      const now = performance.now()
      // If a step took longer, Node has restarted its timeout because something moved.
      const follows = now - last < 1.5 * step
      quiet = !clientOwes() ? 0 : follows ? quiet + 1 : 1
      last = now
      if (quiet >= STALL_STEPS) {
        this.stalled = true
        onStall()
        return
      }
      raw.off('timeout', check)
      raw.setTimeout(step, check)
    }
    raw.setTimeout(step, check)
  }

  /** Ends the connection when the client stops reading. */
  watchSocket(): void {
    const { raw } = this.reply
    this.watch(
      () => raw.writableNeedDrain || (raw.writableEnded && raw.writableLength > 0),
      () => raw.destroy(),
    )
  }

  /** Waits for a slot, which is given back when the answer is closed. @throws ServerError `busy`, `shutting_down` */
  async enter(slots: Semaphore): Promise<void> {
    this.use(await slots.enter(this.request.account.id, this.signal))
  }

  /** Disposes what the answer needs when it is closed. */
  use(held: Disposable | AsyncDisposable): void {
    this.onClose(() => (Symbol.asyncDispose in held ? held[Symbol.asyncDispose]() : held[Symbol.dispose]()))
  }

  /** Registers a clean-up that runs when the answer is closed, however it ended; at once if it already is. */
  onClose(cleanUp: CleanUp): void {
    if (this.#closed) this.#run(cleanUp)
    else this.#cleanUps.push(cleanUp)
  }

  #close(): void {
    this.#closed = true
    for (const timer of this.#timers) clearTimeout(timer)
    if (!this.reply.raw.writableFinished) {
      this.#controller.abort(cancelled('The client left.'))
    }
    this.#server.lifecycle.done(this.#controller)
    for (const cleanUp of this.#cleanUps.splice(0)) this.#run(cleanUp)
  }

  async #run(cleanUp: CleanUp): Promise<void> {
    try {
      await cleanUp()
    } catch (error) {
      this.request.log.error({ err: error }, 'clean-up after a transfer failed')
    }
  }
}

/** The error for requests that come while the server is being stopped. */
export function stopping(): ServerError {
  return new ServerError('shutting_down', 'The server is being stopped. Try again in a few seconds.')
}

function cancelled(message: string): EngineError {
  return new EngineError('cancelled', message)
}

function late(what: string, milliseconds: number, advice = ''): EngineError {
  return new EngineError(
    'timeout',
    `${what} took longer than ${counted(milliseconds / 1000, 'second')}.${advice}`,
  )
}
