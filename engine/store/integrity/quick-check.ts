import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** What is wrong with a part's file, in words that come after "part 7:"; undefined where nothing is. */
export type Problem = string | undefined

/** A Parquet file begins and ends with this. */
const MAGIC = 'PAR1'
/** The last bytes of a Parquet file: the length of the footer in four bytes, then the magic. */
const TAIL = 8

/**
 * Finds what is wrong with a file without reading its rows.
 * @throws the system's error if the file exists but can't be read, for example because too many files are open. That
 * says nothing about its content.
 */
export function quickCheck(file: string, bytes: number): Problem {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'its file is missing'
    throw error
  }
  try {
    const { size } = fstatSync(descriptor)
    if (size !== bytes) return `its file has ${size} bytes; the catalog says ${bytes}`
    const tail = Buffer.alloc(TAIL)
    const head = Buffer.alloc(MAGIC.length)
    if (size < TAIL + MAGIC.length) return 'its file is too short'
    readHere(descriptor, head, 0)
    readHere(descriptor, tail, size - TAIL)
    const footer = tail.readUInt32LE(0)
    const whole = head.toString('latin1') === MAGIC && tail.toString('latin1', 4) === MAGIC
    return whole && footer <= size - TAIL - MAGIC.length ? undefined : 'its file does not end as Parquet does'
  } finally {
    closeSync(descriptor)
  }
}

/** Fills a buffer from a file, in this thread; a read may give fewer bytes than there are. Gives whether it is full. */
export function readHere(descriptor: number, into: Buffer, from: number): boolean {
  for (let done = 0; done < into.length; ) {
    const read = readSync(descriptor, into, done, into.length - done, from + done)
    if (read === 0) return false
    done += read
  }
  return true
}
