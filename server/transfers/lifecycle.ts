import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { ServerError } from '../http/errors.ts'
import { stopping } from './gate.ts'

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
