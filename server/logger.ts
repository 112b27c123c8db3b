import { writeSync } from 'node:fs'
import type { FastifyBaseLogger, FastifyServerOptions } from 'fastify'
import type { EngineEvent } from '../engine/index.ts'
import type { Config } from './config/schema.ts'

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

/** The longest time that lines wait. Writing each line separately would cost more than many requests do. */
const WAIT_MS = 50
const MOST_CHARACTERS = 16 * 1024

/**
 * Writes the log to standard output in blocks of lines; warnings and errors at once, the last lines at the exit. Lines
 * that can't be written are dropped: the server must not end because whoever read its log has gone.
 */
export class LogOutput {
  static #ofProcess: LogOutput | undefined
  #lines = ''
  #timer: NodeJS.Timeout | undefined

  /** The one for all servers of this process, which has one standard output. */
  static get(): LogOutput {
    LogOutput.#ofProcess ??= new LogOutput()
    return LogOutput.#ofProcess
  }

  private constructor() {
    process.stdout.on('error', () => {})
    process.once('exit', () => this.flush())
  }

  /** Receives a line from pino, which begins with its level. */
  write(line: string): void {
    this.#lines += line
    if (this.#lines.length >= MOST_CHARACTERS || !line.startsWith('{"level":30')) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), WAIT_MS)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lines = this.#lines
    this.#lines = ''
    if (lines === '') return
    if (!process.stdout.destroyed) {
      process.stdout.write(lines)
      return
    }
    // Node writes nothing more after an error. But a disk that was full may have room again.
    try {
      writeSync(process.stdout.fd, lines)
    } catch {}
  }
}
