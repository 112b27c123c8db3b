import { readStart } from './file.ts'
import { type ReadRequest, TEXT_FORMATS } from './request.ts'
import { malformed } from './text/errors.ts'
import { ZipReader } from './xlsx/unzip.ts'

/** Formats that files are often in although they are sent as another one. */
type Foreign = 'xls' | 'xlsb' | 'ods' | 'zip' | 'feather1'

/** What each of them is, and how to get a file that can be read. */
const WAYS_OUT: Readonly<Record<Foreign, string>> = {
  xls: 'The file is an Excel workbook of the old format xls: save it as xlsx or csv.',
  xlsb: 'The file is a binary Excel workbook (xlsb): save it as xlsx or csv.',
  ods: 'The file is an OpenDocument spreadsheet (ods): save it as xlsx or csv.',
  zip: 'The file is a zip archive: unpack it and send the files in it one by one; csv may be compressed with gzip.',
  feather1:
    'The file is Feather version 1: write it as version 2 (write_feather(table, file, version=2)) or as Parquet.',
}

const BINARY = { parquet: 'Parquet', arrow: 'Arrow', xlsx: 'an xlsx workbook' } as const

/** The binary format that a file has by its first bytes; undefined for text. A workbook may also be another archive. */
export function binaryFormat(head: Uint8Array): keyof typeof BINARY | 'xls' | 'feather1' | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, 8))
  const start = bytes.toString('latin1')
  if (start.startsWith('PAR1')) return 'parquet'
  if (start.startsWith('ARROW1') || start.startsWith('\xff\xff\xff\xff')) return 'arrow'
  if (start.startsWith('FEA1')) return 'feather1'
  if (start.startsWith('\xd0\xcf\x11\xe0')) return 'xls'
  return start.startsWith('PK\x03\x04') || start.startsWith('PK\x05\x06') ? 'xlsx' : undefined
}

/**
 * Refuses a file that is in another format than it is said to be, with a way out.
 * @throws EngineError `invalid_upload`
 */
export async function refuseForeign({ file, format, limits }: ReadRequest): Promise<void> {
  const found = binaryFormat(await readStart(file, 8))
  if (found === undefined) return
  const foreign = found === 'xlsx' ? await archiveOf(file, limits.unpackedBytes) : found
  if (foreign in WAYS_OUT) throw malformed(WAYS_OUT[foreign as Foreign])
  if (TEXT_FORMATS.has(format)) {
    throw malformed(
      `The file is ${BINARY[foreign as keyof typeof BINARY]}, not ${format}: send it as ${foreign}.`,
    )
  }
}

/** What a zip archive holds. One that is damaged is left to its reader. */
async function archiveOf(file: string, unpackedBytes: number): Promise<'xlsx' | Foreign> {
  try {
    await using zip = await ZipReader.open(file, unpackedBytes)
    const has = (name: string) => zip.entries.has(name)
    if (has('xl/workbook.bin')) return 'xlsb'
    if (has('content.xml') && has('mimetype')) return 'ods'
    return has('[Content_Types].xml') || has('xl/workbook.xml') ? 'xlsx' : 'zip'
  } catch {
    return 'xlsx'
  }
}
