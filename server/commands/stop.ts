/** A signal that Ctrl-C aborts, so that what is half done is taken back; disposing lets Ctrl-C end the program again. */
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

/** Somebody has pressed Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'

  constructor() {
    super('Stopped; nothing has changed.')
  }
}
