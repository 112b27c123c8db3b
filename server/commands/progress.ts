import { createRequire } from 'node:module'

const MIB = 1024 * 1024

/** A progress bar on stderr with bytes, rate and remaining time. Prints nothing if stderr is not a terminal. */
export interface Progress extends Disposable {
  /** Sets the number of bytes done, and the total if it is known. */
  bytes(done: number, of?: number): void
  /** Sets a text after the bar, for example `1,200 rows`. */
  note(text: string): void
}

export function startProgress(label: string, total: number | undefined, terminal = process.stderr): Progress {
  if (!terminal.isTTY) return { bytes() {}, note() {}, [Symbol.dispose]() {} }
  const started = Date.now()
  let note = ''
  const line = (done: number) => {
    const seconds = Math.max((Date.now() - started) / 1000, 0.001)
    return { mib: (done / MIB).toFixed(1), rate: (done / MIB / seconds).toFixed(1), note }
  }
  // Loaded here because most commands, and the server, show no bar.
  const { SingleBar } = createRequire(import.meta.url)('cli-progress') as typeof import('cli-progress')
  const bar = new SingleBar({
    stream: terminal,
    hideCursor: true,
    clearOnComplete: true,
    etaBuffer: 20,
    format:
      total === undefined
        ? `${label} {mib} MiB  {rate} MiB/s  {note}`
        : `${label} [{bar}] {percentage}%  {mib} MiB  {rate} MiB/s  {eta_formatted} left  {note}`,
  })
  bar.start(total ?? 0, 0, line(0))
  return {
    bytes(done, of) {
      if (of !== undefined) bar.setTotal(of)
      bar.update(done, line(done))
    },
    note(text) {
      note = text
    },
    [Symbol.dispose]() {
      bar.stop()
    },
  }
}

/** Progress on stderr of work that isn't measured in bytes. */
export interface Counter extends Disposable {
  count(done: number): void
  note(text: string): void
}

/** Starts a counter on one line that is overwritten. Prints nothing if stderr is not a terminal. */
export function startCounter(label: string): Counter {
  const { stderr } = process
  if (!stderr.isTTY) return { count() {}, note() {}, [Symbol.dispose]() {} }
  const show = (text: string) => stderr.write(`\r\u001b[K${text}`)
  return {
    count: (done) => show(`${label}  ${done.toLocaleString('en')} found`),
    note: (text) => show(`${label}  ${text}`),
    [Symbol.dispose]: () => show(''),
  }
}
