import { createRequire } from 'node:module'

const MIB = 1024 * 1024

/** A progress bar on stderr with bytes, rate and remaining time. Prints nothing if stderr is not a terminal. */
export interface Progress extends Disposable {
  /** Sets the number of bytes done, and the total if it is known. */
  bytes(done: number, of?: number): void
  /** Sets a text after the bar, for example `1,200 rows`. */
  note(text: string): void
}

/** @param total the bytes; undefined if they aren't known, and null for work that isn't measured in bytes */
export function startProgress(
  label: string,
  total: number | undefined | null,
  terminal = process.stderr,
): Progress {
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
      total === null
        ? `${label}  {note}`
        : total === undefined
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
      if (total === null) bar.update(0, line(0))
    },
    [Symbol.dispose]() {
      bar.stop()
    },
  }
}
