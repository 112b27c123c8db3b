import { readFile, writeFile } from 'node:fs/promises'
import { detectDialect } from './csv/detect.ts'
import { readRecord } from './csv/translate.ts'
import type { ReadRequest } from './request.ts'
import { isBigEndian } from './text/encoding.ts'

/**
 * Copies the whole records of the beginning of a text file, and gives the request with the copy: what follows the last of
 * them may go on where the file was cut off. Files of other formats are copied as they are.
 */
export async function copyRecords(request: ReadRequest, target: string): Promise<ReadRequest> {
  const bytes = await readFile(request.file)
  await writeFile(target, bytes.subarray(0, await endOfRecords(request, bytes)))
  return { ...request, file: target }
}

async function endOfRecords({ file, format, options = {} }: ReadRequest, bytes: Buffer): Promise<number> {
  if (format === 'ndjson') return bytes.lastIndexOf('\n') + 1
  if (format !== 'csv' && format !== 'tsv') return bytes.length
  const {
    encoding,
    skip = 0,
    delimiter = format === 'tsv' ? '\t' : ',',
  } = options.dialect === 'auto' ? await detectDialect(file, format, options) : options
  const isSwapped = encoding === 'utf-16' && isBigEndian(bytes)
  if (isSwapped) bytes.subarray(0, bytes.length & ~1).swap16()
  // In the other encodings, no character has a byte that is a delimiter, a quote or a line end by itself.
  const text = bytes.toString(encoding === 'utf-16' ? 'utf16le' : 'latin1')
  if (isSwapped) bytes.subarray(0, bytes.length & ~1).swap16()
  let end = 0
  for (let line = 0; line < skip; line++) end = text.indexOf('\n', end) + 1
  try {
    for (let record: { end: number } | undefined; ; end = record.end) {
      record = readRecord(text, end, delimiter, false, (what) => new Error(what))
      if (!record) return encoding === 'utf-16' ? 2 * end : end
    }
  } catch {
    // Reading the file says better what is wrong with it.
    return bytes.length
  }
}
