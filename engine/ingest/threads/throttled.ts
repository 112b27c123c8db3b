const PROGRESS_MS = 200

/** No more reports than people can follow, so that messages don't cost more than work. */
export function throttled<Done>(report: (done: Done) => void): (done: Done) => void {
  let next = 0
  return (done) => {
    const now = performance.now()
    if (now < next) return
    next = now + PROGRESS_MS
    report(done)
  }
}
