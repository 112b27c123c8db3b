import type { FastifyReply, FastifyRequest } from 'fastify'
import { EngineError } from '../../engine/index.ts'
import type { Lifecycle } from './lifecycle.ts'

/** What transfers need of the server. Times are in milliseconds. */
interface Surroundings {
  readonly lifecycle: Lifecycle
  readonly config: {
    readonly timeouts: { readonly stall: number; readonly transfer: number; readonly firstByte: number }
  }
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
  readonly #server: Surroundings
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #cleanUps: CleanUp[] = []
  #closed = false
  /** Whether the connection was cut because nothing moved. */
  stalled = false

  constructor(request: FastifyRequest, reply: FastifyReply, server: Surroundings) {
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
    return this.#controller.signal.aborted ? this.#controller.signal.reason : undefined
  }

  /** Aborts the transfer. If bytes have already been sent, the connection is ended as well. */
  abort(reason: Error): void {
    if (this.#controller.signal.aborted) return
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
   * Watches the socket. Calls `onStall` when no byte has moved for the time of the stall limit although `clientOwes`
   * says that it is the client's turn. For Node, bytes of a pending write that the kernel has accepted count as
   * movement, but Node checks them only when a timeout ends. So the limit is divided into steps, and is exact to within
   * two of them.
   */
  watch(clientOwes: () => boolean, onStall: () => void): void {
    const { raw } = this.reply
    const step = this.#server.config.timeouts.stall / STALL_STEPS
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

  /** Registers a clean-up that runs when the answer is closed, however it ended; at once if it already is. */
  onClose(cleanUp: CleanUp): void {
    if (this.#closed) this.#run(cleanUp)
    else this.#cleanUps.push(cleanUp)
  }

  #close(): void {
    this.#closed = true
    for (const timer of this.#timers) clearTimeout(timer)
    if (!this.reply.raw.writableFinished) {
      this.#controller.abort(new EngineError('cancelled', 'The client left.'))
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

function late(what: string, milliseconds: number, advice = ''): EngineError {
  return new EngineError('timeout', `${what} took longer than ${milliseconds / 1000} seconds.${advice}`)
}
