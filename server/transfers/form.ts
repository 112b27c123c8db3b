import { crc32 } from 'node:zlib'
import { STORED, ZipWriter } from '../../engine/export/formats/xlsx/zip.ts'
import { uploadFormatOf } from '../../engine/ingest/upload-format.ts'
import { unsupported } from './formats.ts'

const HEAD_BYTES = 16 * 1024

/** A file of a form. Its body must be read before the next one comes. */
interface FormFile {
  readonly name: string
  /** What the form says of it. */
  readonly type: string | undefined
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Reads the files of a form (RFC 7578), while it arrives.
 * @throws ServerError `unsupported_media_type` if there is none, or another field
 */
export async function* filesOfForm(
  source: AsyncIterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<FormFile, undefined> {
  const chunks = source[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const more = async () => {
    const next = await chunks.next()
    if (next.done) throw unsupported('The form is cut off.')
    held = Buffer.concat([held, next.value])
  }
  const closing = Buffer.from(`\r\n--${boundary}`)
  async function* body(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = held.indexOf(closing)
      if (at >= 0) {
        if (at > 0) yield held.subarray(0, at)
        held = held.subarray(at + closing.length)
        return
      }
      // The boundary may begin in this piece and end in the next one.
      const sure = held.length - closing.length
      if (sure > 0) {
        yield held.subarray(0, sure)
        held = held.subarray(sure)
      }
      await more()
    }
  }
  for (let opening = `--${boundary}\r\n`; ; opening = '\r\n') {
    let end = held.indexOf('\r\n\r\n')
    for (; end < 0; end = held.indexOf('\r\n\r\n')) {
      if (held.length > HEAD_BYTES) throw unsupported('The form does not begin with a file.')
      await more()
    }
    const head = held.toString('utf8', 0, end)
    const [, path] = /^content-disposition:.*;\s*filename="((?:[^"\\]|\\.)*)"/im.exec(head) ?? []
    if (!head.startsWith(opening) || path === undefined) {
      throw unsupported('A form has files and no other fields: options are parameters in the URL.')
    }
    held = held.subarray(end + 4)
    yield {
      name: path.split(/[\\/]/).at(-1)!,
      type: /^content-type:\s*([^\r\n]+)/im.exec(head)?.[1],
      body: body(),
    }
    while (held.length < 2) await more()
    const next = held.toString('latin1', 0, 2)
    if (next === '--') break
    if (next !== '\r\n') throw unsupported('What separates the files of the form occurs in one of them.')
  }
  while (!(await chunks.next()).done);
}

/** The body of the only file of a form. @throws ServerError `unsupported_media_type` if there is another */
export async function* alone(
  { body }: FormFile,
  others: AsyncGenerator<FormFile, undefined>,
): AsyncGenerator<Uint8Array> {
  yield* body
  if (!(await others.next()).value) return
  throw unsupported('The form has several files: add entry=* to read all of them, one after the other.')
}

/**
 * The files of a form as a zip archive, in which they are as they were.
 * @throws ServerError `unsupported_media_type` where a name occurs twice, or does not show a format
 */
export async function* archiveOf(
  first: FormFile,
  others: AsyncGenerator<FormFile, undefined>,
): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = []
  const out = { append: (bytes: Uint8Array) => void pieces.push(bytes) }
  const zip = new ZipWriter(STORED)
  const names = new Set<string>()
  for (let file: FormFile | undefined = first; file; file = (await others.next()).value) {
    const { name } = file
    const quoted = JSON.stringify(name)
    if (names.has(name)) throw unsupported(`The form has two files called ${quoted}.`)
    if (name.startsWith('.') || !uploadFormatOf(name)) {
      throw unsupported(`The name of the file ${quoted} does not show its format, as that of data.csv does.`)
    }
    names.add(name)
    zip.beginEntry(name, out)
    for await (const bytes of file.body) {
      zip.part({ bytes, crc: crc32(bytes), length: bytes.byteLength }, out)
      yield* pieces.splice(0)
    }
    zip.endEntry(out)
  }
  zip.end(out)
  yield* pieces
}
