import type { FastifyBaseLogger, FastifyServerOptions } from 'fastify'
import type { EngineEvent } from '../engine/index.ts'
import type { Config } from './config/schema.ts'
import { LogOutput } from './http/log-output.ts'

/** An error in the form in which it is logged. */
interface LoggedError {
  readonly type: string
  readonly message: string
  readonly code?: unknown
  readonly stack?: string
  readonly cause?: LoggedError
}

const DEEPEST_CAUSE = 5

/**
 * pino's options: JSON lines, with keys and secrets removed wherever an error may have quoted them.
 * @param stream receives the lines instead of standard output
 */
export function loggerOptions(
  config: Config,
  stream?: { write(line: string): void },
): NonNullable<FastifyServerOptions['logger']> {
  const scrub = scrubber(config)
  const logged = (error: unknown, depth = 0): LoggedError => {
    if (!(error instanceof Error)) return { type: typeof error, message: scrub(String(error)) }
    const code = (error as { code?: unknown }).code
    return {
      type: error.name,
      message: scrub(error.message),
      ...(code !== undefined && { code }),
      ...(error.stack !== undefined && { stack: scrub(error.stack) }),
      ...(error.cause !== undefined && depth < DEEPEST_CAUSE && { cause: logged(error.cause, depth + 1) }),
    }
  }
  return {
    level: config.logLevel,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    // A user may have put a key into the path by mistake.
    serializers: { err: (error: unknown) => logged(error) as never, path: scrub },
    stream: stream ?? LogOutput.get(),
  }
}

/** Removes API keys, which it recognizes by their form, and the server's own secrets. */
function scrubber({ rootKey, secret, providers }: Config): (text: string) => string {
  const known = [rootKey, secret, ...Object.values(providers).flatMap(({ key, url }) => [key, url])]
  const secrets = known.filter((text) => text !== undefined)
  return (text) => {
    let clean = text
      .replace(/pq_[0-9A-Za-z]{8,}/g, 'pq_…')
      // The password in an address, as that of a database.
      .replace(/(\/\/[^\s:@/]*:)[^\s@/]+@/g, '$1…@')
      .replace(/((?:api_?key|token|registrationkey|authorization)["']?\s*[=:]\s*["']?)[^&\s"']+/gi, '$1…')
    for (const one of secrets) clean = clean.replaceAll(one, '…')
    return clean
  }
}

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
