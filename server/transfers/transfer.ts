import type { FastifyReply, FastifyRequest } from 'fastify'
import { EngineError } from '../../engine/index.ts'
import type { Lifecycle } from './lifecycle.ts'

export interface TransferTimes {
  readonly stall: number
  readonly transfer: number
}

type CleanUp = () => void | PromiseLike<void>

const STALL_STEPS = 4

/**
 * The life of one download or upload: its signal aborts when the client leaves, a deadline passes, nothing moves any
 * more, or the server is stopped; its clean-up runs once, when the connection is done with it.
 */
export class Transfer {
  readonly #controller = new AbortController()
  readonly #lifecycle: Lifecycle
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #times: TransferTimes
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #cleanUps: CleanUp[] = []
  #closed = false
  /** Whether the connection was cut because nothing moved. */
  stalled = false

  constructor(request: FastifyRequest, reply: FastifyReply, lifecycle: Lifecycle, times: TransferTimes) {
    this.#lifecycle = lifecycle
    this.#request = request
    this.#reply = reply
    this.#times = times
    lifecycle.track(this.#controller)
    this.deadline(times.transfer, () => late('The transfer', times.transfer))
    // The client may have left while something else was waited for: that is not told again.
    if (reply.raw.closed) this.#close()
    else reply.raw.once('close', () => this.#close())
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** What has ended the transfer before its time; what the work threw is then but a consequence. */
  get reason(): unknown {
    return this.#controller.signal.aborted ? this.#controller.signal.reason : undefined
  }

  /** Ends the transfer, the connection with it when bytes have been sent. */
  abort(reason: Error): void {
    if (this.#controller.signal.aborted) return
    this.#controller.abort(reason)
    if (this.#reply.raw.headersSent) this.#reply.raw.destroy()
  }

  /** Aborts with an error after some milliseconds, unless the function that it gives is called before. */
  deadline(milliseconds: number, error: () => Error): () => void {
    const timer = setTimeout(() => this.abort(error()), milliseconds).unref()
    this.#timers.add(timer)
    return () => {
      clearTimeout(timer)
      this.#timers.delete(timer)
    }
  }

  /** 504 when the first byte isn't there in time; call what it gives when it is. */
  firstByteBy(milliseconds: number): () => void {
    return this.deadline(milliseconds, () =>
      late('The first byte', milliseconds, ' Narrow the request with $top, $last, $filter or a date range.'),
    )
  }

  /**
   * Watches the socket: when for the stall limit no byte has moved while `clientOwes` says that it's the client's
   * turn, `onStall` is called. Node counts bytes that the kernel has taken of a pending write as movement, but looks for
   * them only when a timeout is over: so the limit is waited for in steps, to be kept to within two of them.
   */
  watch(clientOwes: () => boolean, onStall: () => void): void {
    const { raw } = this.#reply
    const step = this.#times.stall / STALL_STEPS
    let quiet = 0
    let last = Number.NEGATIVE_INFINITY
    const check = () => {
      if (this.signal.aborted || raw.writableFinished) return
      const now = performance.now()
      // A step that took longer was begun anew, because something moved.
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

  /** Runs when the connection is done with this transfer, however it ended; at once where it is already. */
  onClose(cleanUp: CleanUp): void {
    if (this.#closed) this.#run(cleanUp)
    else this.#cleanUps.push(cleanUp)
  }

  #close(): void {
    this.#closed = true
    for (const timer of this.#timers) clearTimeout(timer)
    if (!this.#reply.raw.writableFinished) {
      this.#controller.abort(new EngineError('cancelled', 'The client left.'))
    }
    this.#lifecycle.done(this.#controller)
    for (const cleanUp of this.#cleanUps.splice(0)) this.#run(cleanUp)
  }

  async #run(cleanUp: CleanUp): Promise<void> {
    try {
      await cleanUp()
    } catch (error) {
      this.#request.log.error({ err: error }, 'clean-up after a transfer failed')
    }
  }
}

function late(what: string, milliseconds: number, advice = ''): EngineError {
  return new EngineError('timeout', `${what} took longer than ${milliseconds / 1000} seconds.${advice}`)
}
