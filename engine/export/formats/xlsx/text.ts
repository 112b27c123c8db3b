import { type Literal, literal, writeLiteral } from '../encoder.ts'
import { hasControls } from '../text/cells.ts'

const UNDERSCORE = 0x5f
const HEX = Buffer.from('0123456789ABCDEF')
const ENTITIES: readonly (Literal | undefined)[] = Array.from({ length: 64 }, (_, byte) => {
  const text = { 38: '&amp;', 60: '&lt;', 62: '&gt;' }[byte]
  return text === undefined ? undefined : literal(text)
})

const SUSPICIOUS = [0x26, 0x3c, 0x3e, UNDERSCORE, 0xef]

/** Whether texts can stand in XML as they are; false also for some that can, such as every underscore. */
export function isXmlText(texts: Buffer): boolean {
  return !SUSPICIOUS.some((byte) => texts.includes(byte)) && !hasControls(texts)
}

/**
 * Writes a text as XML content. Characters that XML can't hold (control characters, U+FFFE, U+FFFF, and carriage
 * returns, which parsers turn into line feeds) are written like `_x0001_`, as in Office Open XML (ISO 29500-1,
 * 22.9.2.19, ST_Xstring). In a text that looks like such an escape, the underscore is escaped. A byte becomes at most
 * seven bytes.
 */
export function escapeXml(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  from: Uint8Array,
  start: number,
  end: number,
): number {
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
  return at
}

/** Whether an escape such as `_x005F_` begins at `at`. */
function isEscape(from: Uint8Array, at: number, end: number): boolean {
  if (at + 7 > end || from[at + 1] !== 0x78 || from[at + 6] !== UNDERSCORE) return false
  for (let i = at + 2; i < at + 6; i++) {
    const byte = from[i]!
    const lower = byte | 0x20
    if (!(byte >= 0x30 && byte <= 0x39) && !(lower >= 0x61 && lower <= 0x66)) return false
  }
  return true
}

/** Text outside cells: attributes and names of parts. */
export function xmlAttribute(text: string): string {
  return text
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(/[\x00-\x1f\ufffe\uffff]/g, ' ')
}
