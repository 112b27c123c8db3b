import { unsupported } from './upload-body.ts'

const HEAD_BYTES = 16 * 1024

/** The file of a form (RFC 7578), which has no other fields. */
export interface FormFile {
  readonly name: string
  /** The type that the form says it has. */
  readonly type: string | undefined
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Reads the only file of a form, while it arrives.
 * @throws ServerError `unsupported_media_type` if there is no file, or more than that
 */
export async function fileOfForm(source: AsyncIterable<Uint8Array>, boundary: string): Promise<FormFile> {
  const chunks = source[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const more = async () => {
    const next = await chunks.next()
    if (next.done) throw unsupported('The form is cut off.')
    held = Buffer.concat([held, next.value])
  }
  const opening = `--${boundary}\r\n`
  let end = -1
  for (; end < 0; end = held.indexOf('\r\n\r\n')) {
    if (held.length > HEAD_BYTES) throw unsupported('The form does not begin with a file.')
    await more()
  }
  const head = held.toString('utf8', 0, end)
  const [, name] = /^content-disposition:.*;\s*filename="((?:[^"\\]|\\.)*)"/im.exec(head) ?? []
  if (!head.startsWith(opening) || name === undefined) {
    throw unsupported('A form has one file and no other fields: options are parameters in the URL.')
  }
  held = held.subarray(end + 4)
  const closing = Buffer.from(`\r\n--${boundary}`)
  async function* body(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = held.indexOf(closing)
      if (at >= 0) {
        if (at > 0) yield held.subarray(0, at)
        held = held.subarray(at + closing.length)
        break
      }
      // The boundary may begin in this piece and end in the next one.
      const sure = held.length - closing.length
      if (sure > 0) {
        yield held.subarray(0, sure)
        held = held.subarray(sure)
      }
      await more()
    }
    while (held.length < 2) await more()
    if (held.toString('latin1', 0, 2) !== '--') throw unsupported('A form has one file and no other fields.')
    while (!(await chunks.next()).done);
  }
  return { name, type: /^content-type:\s*([^\r\n]+)/im.exec(head)?.[1], body: body() }
}
