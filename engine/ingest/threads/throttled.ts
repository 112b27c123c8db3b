const PROGRESS_MS = 200

/** Passes on at most five reports a second: people can't follow more, and each message has a cost. */
export function throttled<Done>(report: (done: Done) => void): (done: Done) => void {
  let next = 0
  return (done) => {
    const now = performance.now()
    if (now < next) return
    next = now + PROGRESS_MS
    report(done)
  }
}
