import { writeSync } from 'node:fs'

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
