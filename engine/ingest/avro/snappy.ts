/**
 * Unpacks Snappy's raw format (format_description.txt of google/snappy).
 * @param most the bytes to which it may unpack
 * @throws RangeError if the data are damaged
 */
export function unpackSnappy(data: Buffer, most: number): Buffer {
  let at = 0
  const byte = () => {
    if (at >= data.length) throw new RangeError('Snappy: cut off.')
    return data[at++]!
  }
  const number = (bytes: number) => {
    let value = 0
    for (let count = 0; count < bytes; count++) value += byte() * 2 ** (8 * count)
    return value
  }
  let size = 0
  for (let shift = 0, more = true; more; shift += 7) {
    const next = byte()
    size += (next & 0x7f) * 2 ** shift
    more = next > 0x7f
    if (shift > 28) throw new RangeError('Snappy: no length.')
  }
  if (size > most) throw new RangeError('Snappy: too long.')
  const out = Buffer.alloc(size)
  let end = 0
  while (at < data.length) {
    const tag = byte()
    const kind = tag & 3
    if (kind === 0) {
      const short = tag >> 2
      const length = 1 + (short < 60 ? short : number(short - 59))
      if (at + length > data.length || end + length > size)
        throw new RangeError('Snappy: a literal is too long.')
      data.copy(out, end, at, at + length)
      at += length
      end += length
      continue
    }
    const length = kind === 1 ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2)
    const offset = kind === 1 ? ((tag >> 5) << 8) | byte() : number(kind === 2 ? 2 : 4)
    if (offset === 0 || offset > end || end + length > size)
      throw new RangeError('Snappy: a copy is out of range.')
    // What is copied may be what it makes.
    for (let count = 0; count < length; count++, end++) out[end] = out[end - offset]!
  }
  if (end !== size) throw new RangeError('Snappy: cut off.')
  return out
}
