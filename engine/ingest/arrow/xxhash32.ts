/** xxHash32 of XXH (xxhash_spec.md 0.1.1), with the seed 0, as LZ4 frames use it. */

const [P1, P2, P3, P4, P5] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1]

/** The hash as an unsigned integer. */
export function xxhash32(bytes: Uint8Array): number {
  const { length } = bytes
  const view = new DataView(bytes.buffer, bytes.byteOffset, length)
  let at = 0
  let hash = P5
  if (length >= 16) {
    let [a, b, c, d] = [P1 + P2, P2, 0, -P1]
    for (; at + 16 <= length; at += 16) {
      a = round(a, view.getUint32(at, true))
      b = round(b, view.getUint32(at + 4, true))
      c = round(c, view.getUint32(at + 8, true))
      d = round(d, view.getUint32(at + 12, true))
    }
    hash = rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18)
  }
  hash = (hash + length) | 0
  for (; at + 4 <= length; at += 4) {
    hash = Math.imul(rotated((hash + Math.imul(view.getUint32(at, true), P3)) | 0, 17), P4)
  }
  for (; at < length; at++) hash = Math.imul(rotated((hash + Math.imul(bytes[at]!, P5)) | 0, 11), P1)
  hash = Math.imul(hash ^ (hash >>> 15), P2)
  hash = Math.imul(hash ^ (hash >>> 13), P3)
  return (hash ^ (hash >>> 16)) >>> 0
}

function round(sum: number, lane: number): number {
  return Math.imul(rotated((sum + Math.imul(lane, P2)) | 0, 13), P1)
}

function rotated(bits: number, by: number): number {
  return (bits << by) | (bits >>> (32 - by))
}
