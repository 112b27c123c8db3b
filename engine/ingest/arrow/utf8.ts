// The library's own decoder drops byte order marks, and puts U+FFFD in the place of bytes that are not UTF-8.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text that bytes stand for, with a byte order mark if it has one; undefined if they are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes)
  } catch {
    return undefined
  }
}
