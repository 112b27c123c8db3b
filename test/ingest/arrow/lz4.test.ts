import { describe, expect, test } from 'vitest'
import { unpackLz4, xxhash32 } from '../../../engine/ingest/arrow/lz4.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const TEXT = bytes('rows of a column, stored as they are')

describe('xxHash32', () => {
  test.each([
    ['', 0x02cc5d05],
    ['a', 0x550d7456],
    ['abc', 0x32d153ff],
    ['Nobody inspects the spammish repetition', 0xe2293b2f],
  ])('of %j is that of its specification', (text, hash) => {
    expect(xxhash32(bytes(text))).toBe(hash)
  })
})

/** A frame of one block that is not packed, with a checksum of the block and one of the content. */
function frame(): Uint8Array {
  const whole = new DataView(new ArrayBuffer(7 + 4 + TEXT.length + 4 + 4 + 4))
  whole.setUint32(0, 0x184d2204, true)
  whole.setUint8(4, 0x40 | 0x20 | 0x10 | 0x04)
  whole.setUint8(5, 0x40)
  whole.setUint8(6, (xxhash32(new Uint8Array(whole.buffer, 4, 2)) >>> 8) & 0xff)
  whole.setUint32(7, (TEXT.length | 0x80000000) >>> 0, true)
  new Uint8Array(whole.buffer).set(TEXT, 11)
  whole.setUint32(11 + TEXT.length, xxhash32(TEXT), true)
  whole.setUint32(19 + TEXT.length, xxhash32(TEXT), true)
  return new Uint8Array(whole.buffer)
}

describe('an LZ4 frame with checksums', () => {
  test('is unpacked', () => {
    expect(unpackLz4(frame(), 1_000)).toEqual(TEXT)
  })

  test.each([
    ['the header', 5],
    ['a value', 20],
    ['the checksum of the block', 11 + TEXT.length],
    ['the checksum of the content', 19 + TEXT.length],
  ])('is refused where a bit of %s has flipped', (_where, at) => {
    const damaged = frame()
    damaged[at]! ^= 0x20
    expect(() => unpackLz4(damaged, 1_000)).toThrow('An LZ4 frame does not match its checksum.')
  })
})
