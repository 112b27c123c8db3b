import { type Literal, literal, type Output, writeLiteral } from './output.ts'

const UNDERSCORE = 0x5f
const HEX = Buffer.from('0123456789ABCDEF')
const ENTITIES: readonly (Literal | undefined)[] = Array.from({ length: 64 }, (_, byte) => {
  const text = { 38: '&amp;', 60: '&lt;', 62: '&gt;' }[byte]
  return text === undefined ? undefined : literal(text)
})

/**
 * Copies a text four bytes at a time; where a byte of it may need an escape, nothing was written and this is false.
 * The room must have been reserved.
 */
export function copyUnlessSpecial(out: Output, from: DataView, start: number, end: number): boolean {
  const { view, length } = out
  let found = 0
  let at = length
  let i = start
  for (; i + 4 <= end; i += 4, at += 4) {
    const word = from.getInt32(i, true)
    view.setInt32(at, word, true)
    const ampersands = word ^ 0x26262626
    // `<` and `>` differ in one bit.
    const angles = (word & 0xfdfdfdfd) ^ 0x3c3c3c3c
    const underscores = word ^ 0x5f5f5f5f
    const noncharacters = word ^ 0xefefefef
    found |=
      ((ampersands - 0x01010101) & ~ampersands) |
      ((angles - 0x01010101) & ~angles) |
      ((underscores - 0x01010101) & ~underscores) |
      ((noncharacters - 0x01010101) & ~noncharacters) |
      ((word - 0x20202020) & ~word)
  }
  if ((found & 0x80808080) !== 0) return false
  for (; i < end; i++, at++) {
    const byte = from.getUint8(i)
    if (
      byte < 0x20 ||
      byte === 0x26 ||
      byte === 0x3c ||
      byte === 0x3e ||
      byte === UNDERSCORE ||
      byte === 0xef
    )
      return false
    view.setUint8(at, byte)
  }
  out.length = at
  return true
}

/**
 * Writes a text as XML content. What XML can't hold (control characters, U+FFFE, U+FFFF, and carriage returns, which
 * parsers turn into line feeds) is written `_x0001_`, as Office Open XML does (ISO 29500-1, 22.9.2.19, ST_Xstring); a
 * text that looks like such an escape has its underscore escaped. Room for seven bytes for each must be reserved.
 */
export function escapeXml(out: Output, from: Uint8Array, start: number, end: number): void {
  const { bytes, view } = out
  let at = out.length
  const escapeCode = (code: number): void => {
    bytes[at++] = UNDERSCORE
    bytes[at++] = 0x78
    for (let shift = 12; shift >= 0; shift -= 4) bytes[at++] = HEX[(code >> shift) & 15]!
    bytes[at++] = UNDERSCORE
  }
  for (let i = start; i < end; i++) {
    const byte = from[i]!
    const entity = byte < 64 ? ENTITIES[byte] : undefined
    if (entity) {
      at = writeLiteral(view, at, entity)
    } else if (
      (byte < 0x20 && byte !== 0x09 && byte !== 0x0a) ||
      (byte === UNDERSCORE && isEscape(from, i, end))
    ) {
      escapeCode(byte)
    } else if (byte === 0xef && from[i + 1] === 0xbf && from[i + 2]! >= 0xbe) {
      escapeCode(0xff40 + from[i + 2]!)
      i += 2
    } else {
      bytes[at++] = byte
    }
  }
  out.length = at
}

/** Whether the text goes on as `_x005F_` does. */
function isEscape(from: Uint8Array, at: number, end: number): boolean {
  if (at + 7 > end || from[at + 1] !== 0x78 || from[at + 6] !== UNDERSCORE) return false
  for (let i = at + 2; i < at + 6; i++) {
    const byte = from[i]!
    const lower = byte | 0x20
    if (!(byte >= 0x30 && byte <= 0x39) && !(lower >= 0x61 && lower <= 0x66)) return false
  }
  return true
}

/** Text that is not a cell's: attributes and names of parts. */
export function xmlAttribute(text: string): string {
  return text
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(/[\x00-\x1f\ufffe\uffff]/g, ' ')
}
