import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export interface Current {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** The request that the running code works for. */
export const current = new AsyncLocalStorage<Current>()

/** Remembers for all that a request begins, also in timers and events, which request it was. */
export function followRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => current.run({ request, reply }, done))
}

/** What the system refuses while it has no descriptors, memory or processes left. It passes. */
const SHORTAGES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ENOBUFS'])

/**
 * Handles errors that nobody caught, of the whole process. One of a request answers that request, or ends its connection
 * if the answer has begun: what a request changes is changed in transactions, which others never see in part. Shortages
 * of the system are logged. Any other error comes from work that no request waits for, such as leases, merges and
 * refreshes. Whether that still runs is unknown, and without it other processes may take over what this one still
 * writes; so the process is to be ended, and started again by whoever runs it.
 * @param end ends the process in order
 */
export function guardProcess(log: FastifyBaseLogger, end: () => void): Disposable {
  const onError = (error: unknown) => {
    const found = current.getStore()
    if (found) answer(found, error)
    else if (SHORTAGES.has((error as NodeJS.ErrnoException | undefined)?.code)) {
      log.error({ err: error }, 'the system has no room, and work outside of a request has failed')
    } else {
      log.fatal({ err: error }, 'work outside of a request has failed: the server ends')
      end()
    }
  }
  process.on('uncaughtException', onError)
  return { [Symbol.dispose]: () => process.off('uncaughtException', onError) }
}

function answer({ request, reply }: Current, error: unknown): void {
  request.log.error({ err: error }, 'an error of a request that nobody caught')
  const { raw } = reply
  if (raw.closed) return
  // Whether Node has finished the answer is unknown, so the connection takes no other request. To destroy a request that
  // has been read would not end it.
  const cut = () => request.raw.socket.destroy()
  try {
    if (reply.sent || raw.headersSent) cut()
    else reply.send(error instanceof Error ? error : new Error('Something was thrown.', { cause: error }))
  } catch {
    cut()
  }
}
