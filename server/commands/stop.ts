/**
 * A signal that Ctrl-C aborts, so that unfinished work can be undone. After disposal, Ctrl-C ends the program again.
 */
export function abortOnInterrupt(): Disposable & { readonly signal: AbortSignal } {
  const aborted = new AbortController()
  const abort = () => aborted.abort(new Interrupted())
  process.once('SIGINT', abort)
  return {
    signal: aborted.signal,
    [Symbol.dispose]() {
      process.off('SIGINT', abort)
    },
  }
}

/** The user has pressed Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'

  constructor() {
    super('Stopped; nothing has changed.')
  }
}
