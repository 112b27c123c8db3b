import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { Failure, notUnderstood } from '../failures.ts'

const unpackers = {
  gzip: promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: promisify(inflate),
  'raw-deflate': promisify(inflateRaw),
}

/**
 * Undoes `Content-Encoding` and applies the size limit to the unpacked bytes. It also looks at the bytes, because some
 * headers are wrong: they announce gzip for plain bytes, or don't announce it, or mean deflate without its wrapper.
 */
export async function unpack(body: Buffer, contentEncoding: string, maxBytes: number): Promise<Buffer> {
  const encodings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && each !== 'identity')
  let bytes = body
  for (const encoding of encodings.reverse()) bytes = await undo(encoding, bytes, maxBytes)
  return encodings.length === 0 && isGzip(bytes) ? undo('gzip', bytes, maxBytes) : bytes
}

async function undo(encoding: string, bytes: Buffer, maxBytes: number): Promise<Buffer> {
  if (bytes.length === 0) return bytes
  const name = encodingOf(encoding, bytes)
  if (name === undefined) return bytes
  try {
    return await unpackers[name](bytes, { maxOutputLength: maxBytes })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new Failure('oversized', { what: `The unpacked answer is over ${maxBytes} bytes` })
    }
    throw notUnderstood(`The answer is no valid ${name}`, cause)
  }
}

function encodingOf(encoding: string, bytes: Buffer): keyof typeof unpackers | undefined {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return isGzip(bytes) ? 'gzip' : undefined
    case 'br':
      return 'br'
    case 'deflate':
      // RFC 1950: method 8 in the low bits, and the first two bytes are a multiple of 31.
      return (bytes[0]! & 15) === 8 && bytes.length > 1 && bytes.readUInt16BE(0) % 31 === 0
        ? 'deflate'
        : 'raw-deflate'
    default:
      throw notUnderstood('The answer is packed in a way that was not asked for')
  }
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

/** Charsets in which bytes below 128 may be part of other characters, so that their text may look like valid UTF-8. */
const SEVEN_BIT = /^(iso-2022|utf-?7|hz|utf-?16)/i

/**
 * The text of an answer. A byte order mark decides. Without one, bytes that are valid UTF-8 are read as UTF-8 whatever
 * the header says, because text in another charset is almost never valid UTF-8. Else the declared charset applies, else
 * Windows-1252.
 */
export function decodeText(bytes: Buffer, contentType: string): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  const declared = /charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1] ?? xmlEncoding(bytes)
  if (declared === undefined || !SEVEN_BIT.test(declared)) {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    } catch {
      // The bytes are not UTF-8, so the declared charset is tried next.
    }
  }
  return decoderOf(declared).decode(bytes)
}

function xmlEncoding(bytes: Buffer): string | undefined {
  return /^\s*<\?xml[^>]*?encoding=["']([^"']+)/.exec(bytes.toString('latin1', 0, 200))?.[1]
}

function decoderOf(charset: string | undefined): TextDecoder {
  const isUtf8 = charset === undefined || /^utf-?8$/i.test(charset)
  try {
    return new TextDecoder(isUtf8 ? 'windows-1252' : charset)
  } catch {
    return new TextDecoder('windows-1252')
  }
}

/** The number of elements of a list that are measured; the others are assumed to be like them. */
const SAMPLE = 500

/** About how many bytes of memory a value of plain data takes. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 24 + 2 * value.length
  if (typeof value !== 'object' || value === null) return 8
  if (Array.isArray(value)) {
    const sample = value.slice(0, SAMPLE)
    const measured = sample.reduce<number>((sum, each) => sum + sizeOf(each), 0)
    return 32 + 8 * value.length + (sample.length === 0 ? 0 : (measured / sample.length) * value.length)
  }
  if (value instanceof Map) return sizeOf([...value])
  if (value instanceof Set) return sizeOf([...value])
  return Object.values(value).reduce<number>((sum, each) => sum + 16 + sizeOf(each), 32)
}
