/** An entry of a zip archive, which can be read without reading the others. */
export interface ZipEntry {
  readonly name: string
  readonly method: number
  readonly packedSize: number
  /** Offset of the local file header. */
  readonly offset: number
}

const END_SIGNATURE = 0x06054b50
const ENTRY_SIGNATURE = 0x02014b50
const LONGEST_COMMENT = 65_557

/** Reads the central directory at the end of an archive (APPNOTE 4.3.12). @throws RangeError if there is none */
export async function zipEntries(file: Blob): Promise<ZipEntry[]> {
  const tailStart = Math.max(0, file.size - LONGEST_COMMENT)
  const tail = new DataView(await file.slice(tailStart).arrayBuffer())
  let end = tail.byteLength - 22
  while (end >= 0 && tail.getUint32(end, true) !== END_SIGNATURE) end -= 1
  if (end < 0) throw new RangeError('There is no zip directory.')
  const size = tail.getUint32(end + 12, true)
  const offset = tail.getUint32(end + 16, true)
  return readDirectory(new DataView(await file.slice(offset, offset + size).arrayBuffer()))
}

function readDirectory(view: DataView): ZipEntry[] {
  const entries: ZipEntry[] = []
  const decoder = new TextDecoder()
  let at = 0
  while (at + 46 <= view.byteLength && view.getUint32(at, true) === ENTRY_SIGNATURE) {
    const nameLength = view.getUint16(at + 28, true)
    entries.push({
      name: decoder.decode(new Uint8Array(view.buffer, at + 46, nameLength)),
      method: view.getUint16(at + 10, true),
      packedSize: view.getUint32(at + 20, true),
      offset: view.getUint32(at + 42, true),
    })
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return entries
}

/** Reads the text of an entry, up to `most` characters. */
export async function entryText(
  file: Blob,
  entry: ZipEntry,
  most: number,
): Promise<{ text: string; whole: boolean }> {
  const header = new DataView(await file.slice(entry.offset, entry.offset + 30).arrayBuffer())
  const start = entry.offset + 30 + header.getUint16(26, true) + header.getUint16(28, true)
  const packed = file.slice(start, start + entry.packedSize).stream()
  const bytes = entry.method === 0 ? packed : packed.pipeThrough(new DecompressionStream('deflate-raw'))
  const reader = bytes.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { text: text + decoder.decode(), whole: true }
    text += decoder.decode(value, { stream: true })
    if (text.length < most) continue
    await reader.cancel().catch(() => undefined)
    return { text, whole: false }
  }
}
