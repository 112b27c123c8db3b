import { Calls } from './calls.ts'
import { cancelled, saysInterrupted } from './errors.ts'
import type { StartOptions } from './source.ts'

/** What the cursors of all sources have in common: how they start, find the cause of a failure, and end. */
export abstract class CursorBase {
  protected readonly calls: Calls
  #closed: Promise<void> | undefined

  /** @param interruptQuery makes the connection's running query fail */
  constructor(interruptQuery: () => void) {
    this.calls = new Calls(interruptQuery)
  }

  /** Runs the statement until its first rows are there. */
  protected abstract run(options: StartOptions): Promise<void>
  /** Runs the query once more, without its rows, to have it fail again. */
  protected abstract runAgain(): Promise<void>
  /** Whether the last row has been fetched, so that nothing runs that could be interrupted. */
  protected get ended(): boolean {
    return false
  }
  /** Frees everything. Called when no call is running any more. */
  protected abstract free(): Promise<void> | void

  /** Runs the statement. If that fails, the cursor closes itself. */
  async start(options: StartOptions): Promise<void> {
    const { signal } = options
    const stop = () => this.interrupt()
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    try {
      await this.run(options)
    } catch (error) {
      const cause = await this.trueError(error)
      await this.close()
      throw signal?.aborted ? cancelled(signal) : cause
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }

  /**
   * The cause of a failure. DuckDB sometimes reports an interrupt although there was none; then the query is run once
   * more to find its real error.
   */
  async trueError(error: unknown): Promise<unknown> {
    if (this.calls.interrupted || !saysInterrupted(error)) return error
    try {
      await this.runAgain()
      return error
    } catch (cause) {
      return cause
    }
  }

  interrupt(): void {
    this.calls.interrupt()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    if (!this.ended) {
      this.interrupt()
      await this.calls.settled()
    }
    await this.free()
  }
}
