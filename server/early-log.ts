import type { FastifyBaseLogger } from 'fastify'
import type { EngineEvent } from '../engine/index.ts'

type Level = 'info' | 'warn' | 'error'

/** Writes events of the engine and the connectors to the log. Events from before there is a log are kept until then. */
export class EarlyLog {
  #log: FastifyBaseLogger | undefined
  readonly #early: (() => void)[] = []

  to(log: FastifyBaseLogger): void {
    this.#log = log
    for (const write of this.#early.splice(0)) write()
  }

  event({ kind, level, message, cause, dataset, part }: EngineEvent): void {
    this.line(level, message, { event: kind, dataset, part }, cause)
  }

  line(level: Level, message: string, particulars: object, cause?: unknown): void {
    const write = () =>
      this.#log![level]({ ...particulars, ...(cause !== undefined && { err: cause }) }, message)
    if (this.#log) write()
    else this.#early.push(write)
  }
}
