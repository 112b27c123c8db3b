import { readdirSync, readFileSync } from 'node:fs'

/**
 * Milliseconds of processor time that the threads of a process and of its descendants have used so far. It is counted in
 * nanoseconds, for live threads only; `/proc/PID/stat`, which has those that ended as well, counts ticks of ten
 * milliseconds, more than forty small reads may take.
 */
export function processorTime(pid: number): number {
  let nanoseconds = 0
  for (const one of tree(pid)) {
    for (const thread of threads(one))
      nanoseconds += Number(read(one, `task/${thread}/schedstat`).split(' ')[0])
  }
  return nanoseconds / 1e6
}

function threads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Bytes of resident memory of a process and all its descendants. */
export function residentMemory(pid: number): number {
  let kilobytes = 0
  for (const one of tree(pid)) kilobytes += Number(/VmRSS:\s+(\d+)/.exec(read(one, 'status'))?.[1] ?? 0)
  return kilobytes * 1_024
}

/** Whether this system reports what a process uses. */
export function canMeasure(): boolean {
  return read(process.pid, 'schedstat') !== ''
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

/** The text of a file of the process; empty if the process or the thread has ended. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
