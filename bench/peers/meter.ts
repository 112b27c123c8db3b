import { readdirSync, readFileSync } from 'node:fs'

/** Ticks per second in `/proc/PID/stat`: USER_HZ, which Linux fixes at 100 for all programs. */
const TICKS = 100

/** Milliseconds of processor time (user and system) that a process and all its descendants have used so far. */
export function processorTime(pid: number): number {
  let ticks = 0
  for (const one of tree(pid)) {
    const fields = statistics(one)
    // utime, stime, and those of children that have ended: proc(5), fields 14 to 17, counted from one.
    for (const field of [14, 15, 16, 17]) ticks += Number(fields[field - 3] ?? 0)
  }
  return (ticks * 1_000) / TICKS
}

/** Bytes of resident memory of a process and all its descendants. */
export function residentMemory(pid: number): number {
  let kilobytes = 0
  for (const one of tree(pid)) kilobytes += Number(/VmRSS:\s+(\d+)/.exec(read(one, 'status'))?.[1] ?? 0)
  return kilobytes * 1_024
}

/** Whether this system reports what a process uses. */
export function canMeasure(): boolean {
  return read(process.pid, 'stat') !== ''
}

function tree(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = Number(statistics(Number(name))[1])
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const found = [root]
  for (const one of found) found.push(...(children.get(one) ?? []))
  return found
}

/** The fields from the third on. The second is the program's name in parentheses, which may contain any characters. */
function statistics(pid: number): string[] {
  return read(pid, 'stat').split(') ').at(-1)!.split(' ')
}

/** The text of a file of the process; empty if the process has ended. */
function read(pid: number, file: 'stat' | 'status'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
