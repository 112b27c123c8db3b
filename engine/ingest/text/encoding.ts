import { isUtf8Piece } from '../file.ts'
import type { UploadOptions } from '../request.ts'

type Encoding = NonNullable<UploadOptions['encoding']>

/** The encoding that a text which begins with these bytes most likely has. */
export function encodingOf(bytes: Buffer): Encoding {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return 'utf-16'
  // In UTF-16, every other byte of Western text is zero. UTF-8 text contains no zeros.
  if (bytes.subarray(0, 200).includes(0)) return 'utf-16'
  return isUtf8Piece(bytes, bytes.length, false) ? 'utf-8' : (singleBytes(bytes) ?? 'utf-8')
}

/** The encoding of bytes that are not UTF-8; undefined if some of their characters are, so that no encoding is right. */
function singleBytes(bytes: Buffer): Encoding | undefined {
  if (isJapanese(bytes)) return 'shift_jis'
  return /[\xc2\xc3][\x80-\xbf]/.test(bytes.toString('latin1')) ? undefined : 'windows-1252'
}

/** Whether bytes are Japanese in Shift JIS: hardly any other text has kana when it is read as that. */
function isJapanese(bytes: Buffer): boolean {
  try {
    const text = new TextDecoder('shift_jis', { fatal: true }).decode(bytes, { stream: true })
    return /[\u3040-\u30ff]/.test(text)
  } catch {
    return false
  }
}

/** Whether text in UTF-16 has the byte order of its mark, or else of its first character, which is a Western one. */
function isBigEndian(start: Uint8Array): boolean {
  return (start[0] === 0xfe && start[1] === 0xff) || (start[0] === 0 && start[1] !== 0)
}

/** A decoder of text that begins with these bytes. */
export function decoderOf(
  { encoding = 'utf-8' }: UploadOptions,
  start: Buffer,
  { fatal = encoding !== 'latin1' && encoding !== 'windows-1252' } = {},
): TextDecoder {
  return new TextDecoder(encoding === 'utf-16' && isBigEndian(start) ? 'utf-16be' : encoding, { fatal })
}

/** What to do about bytes that are not UTF-8. */
export function otherEncoding(bytes: Buffer): string {
  const encoding = singleBytes(bytes)
  if (!encoding) return 'Other parts of it are: save all of the file as UTF-8.'
  return `It looks like ${encoding}: add encoding=${encoding}, or save the file as UTF-8.`
}
