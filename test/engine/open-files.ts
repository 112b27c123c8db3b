import { readdirSync, readlinkSync } from 'node:fs'

/** The files of a directory that this process has open, by their paths below it. */
export function openFiles(directory: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`)
      return path.startsWith(directory) ? [path.slice(directory.length)] : []
    } catch {
      // Another thread closed it after it was listed, or it is the one that listed the others.
      return []
    }
  })
}
