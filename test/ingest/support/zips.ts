import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'

/** A zip archive of these files, by their names. */
export function zipOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, content] of Object.entries(files))
    zip.addBuffer(Buffer.from(content), name, { compress: content.length > 10 })
  zip.end()
  return buffer(zip.outputStream)
}
