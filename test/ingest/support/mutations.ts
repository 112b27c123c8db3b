import { buffer } from 'node:stream/consumers'
import { fromBufferPromise } from 'yauzl'
import { ZipFile } from 'yazl'

/** A small generator of repeatable randomness (mulberry32). */
export function randomness(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return Math.floor((((value ^ (value >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** What readers of text and of binary formats take for structure. */
const TOKENS = [
  '"',
  ',',
  '\n',
  '\r',
  '{',
  '}',
  '[',
  ']',
  ':',
  '\\',
  '\0',
  '\ufeff',
  'null',
  '1e999',
  '-',
  '<',
  '>',
  '&',
  'PAR1',
  '\xff\xff\xff\xff',
  '\x80',
  '99999999999999999999',
]

/** A file with one to four defects: bits flipped, bytes replaced, pieces cut out, doubled, moved, or cut off. */
export function mutate(original: Uint8Array, random: (below: number) => number): Buffer {
  let bytes = Buffer.from(original)
  for (let count = 1 + random(4); count > 0; count--) {
    const at = random(bytes.length + 1)
    const length = 1 + random(random(4) === 0 ? 200 : 8)
    const before = bytes.subarray(0, at)
    const behind = bytes.subarray(at)
    switch (random(8)) {
      case 0:
        bytes = Buffer.from(bytes)
        if (at < bytes.length) bytes[at]! ^= 1 << random(8)
        break
      case 1:
        bytes = Buffer.from(bytes)
        if (at < bytes.length) bytes[at] = [0, 0xff, 0x7f, 0x80, random(256)][random(5)]!
        break
      case 2:
        bytes = Buffer.concat([before, behind.subarray(length)])
        break
      case 3:
        bytes = Buffer.concat([before, behind.subarray(0, length), behind])
        break
      case 4:
        bytes = Buffer.concat([before, Buffer.from(TOKENS[random(TOKENS.length)]!, 'latin1'), behind])
        break
      case 5:
        bytes = Buffer.concat([
          before,
          Buffer.from(Array.from({ length }, () => random(256))),
          behind.subarray(length),
        ])
        break
      case 6: {
        const from = random(bytes.length + 1)
        bytes = Buffer.concat([before, bytes.subarray(from, from + length), behind])
        break
      }
      default:
        if (random(4) === 0) bytes = Buffer.from(before)
        else bytes = Buffer.concat([before, behind.subarray(length)])
    }
  }
  return bytes
}

/** A zip archive with a defect in one of its files; the archive itself is sound. */
export async function mutateInside(archive: Uint8Array, random: (below: number) => number): Promise<Buffer> {
  const entries: [name: string, content: Buffer][] = []
  const read = await fromBufferPromise(Buffer.from(archive))
  for await (const entry of read.eachEntry()) {
    if (!entry.fileName.endsWith('/'))
      entries.push([entry.fileName, await buffer(await read.openReadStreamPromise(entry))])
  }
  const damaged = random(entries.length)
  const zip = new ZipFile()
  entries.forEach(([name, content], at) => {
    zip.addBuffer(at === damaged ? mutate(content, random) : content, name)
  })
  zip.end()
  return buffer(zip.outputStream as NodeJS.ReadableStream)
}
