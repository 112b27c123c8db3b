const INSIDE = 1
const FORBIDDEN = 2

/**
 * Keeps a thread from being ended while it is inside of native code. A thread that Node ends there can't throw the
 * exceptions of the native code any more, and Node answers that by aborting the process. So the thread runs such code
 * in `run`, and whoever wants to end the thread asks for `forbid` first.
 */
export class NativeSection {
  /** To be given to the other thread, which makes its own object of it. */
  readonly memory: SharedArrayBuffer
  readonly #state: Int32Array

  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#state = new Int32Array(memory)
  }

  /** Throws, without running anything, once that is forbidden. */
  run<Result>(native: () => Result): Result {
    try {
      if (Atomics.or(this.#state, 0, INSIDE) & FORBIDDEN) throw new Error('The thread is being ended')
      return native()
    } finally {
      Atomics.and(this.#state, 0, ~INSIDE)
      Atomics.notify(this.#state, 0)
    }
  }

  /** Resolves when the thread is outside of native code, and stays there. */
  async forbid(): Promise<void> {
    Atomics.or(this.#state, 0, FORBIDDEN)
    while (Atomics.load(this.#state, 0) & INSIDE) {
      await Atomics.waitAsync(this.#state, 0, INSIDE | FORBIDDEN).value
    }
  }

  /** Like `forbid`, for where nothing can be awaited any more. Gives up after `milliseconds`. */
  forbidHere(milliseconds: number): void {
    Atomics.or(this.#state, 0, FORBIDDEN)
    Atomics.wait(this.#state, 0, INSIDE | FORBIDDEN, milliseconds)
  }
}
