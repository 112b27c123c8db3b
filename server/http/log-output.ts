/** Lines wait this long at most; a write of its own for each would cost more than the request that it tells of. */
const WAIT_MS = 50
const MOST_CHARACTERS = 16 * 1024

/** The standard output for the log: lines in blocks, those of warnings and errors at once, the last at the exit. */
export class LogOutput {
  #lines = ''
  #timer: NodeJS.Timeout | undefined

  constructor() {
    process.once('exit', () => this.#flush())
  }

  /** Takes a line as pino writes it, which begins with its level. */
  write(line: string): void {
    this.#lines += line
    if (this.#lines.length >= MOST_CHARACTERS || !line.startsWith('{"level":30')) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), WAIT_MS)
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lines = this.#lines
    this.#lines = ''
    if (lines !== '') process.stdout.write(lines)
  }
}
