import { READING } from './options.ts'

/** How a format is told by the names of files and in HTTP. */
interface FormatFacts {
  /** Endings of files' names; the first is the usual one. */
  readonly endings: readonly string[]
  /** Its media types; the first is the usual one. */
  readonly types: readonly string[]
  /** Whether it is text, which may be packed with gzip, and of which small uploads are committed together. */
  readonly isText?: true
}

/** The formats in which rows can be uploaded. */
export type UploadFormat =
  | ('csv' | 'tsv' | 'json' | 'ndjson' | 'parquet' | 'arrow' | 'xlsx')
  | ('xls' | 'xlsb' | 'ods' | 'html' | 'avro' | 'sqlite' | 'duckdb' | 'sav' | 'px' | 'zip')

/** What is known of each. The lists of formats for people are made from this one. */
export const UPLOAD_FORMATS = {
  csv: { endings: ['csv'], types: ['text/csv'], isText: true },
  tsv: { endings: ['tsv', 'tab'], types: ['text/tab-separated-values'], isText: true },
  json: { endings: ['json'], types: ['application/json'], isText: true },
  ndjson: { endings: ['ndjson', 'jsonl'], types: ['application/x-ndjson'], isText: true },
  parquet: { endings: ['parquet'], types: ['application/vnd.apache.parquet'] },
  arrow: {
    endings: ['arrow', 'arrows', 'feather', 'ipc'],
    types: ['application/vnd.apache.arrow.stream', 'application/vnd.apache.arrow.file'],
  },
  xlsx: { endings: ['xlsx'], types: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'] },
  xls: { endings: ['xls'], types: ['application/vnd.ms-excel'] },
  xlsb: { endings: ['xlsb'], types: ['application/vnd.ms-excel.sheet.binary.macroenabled.12'] },
  ods: { endings: ['ods'], types: ['application/vnd.oasis.opendocument.spreadsheet'] },
  html: { endings: ['html', 'htm'], types: ['text/html', 'application/xhtml+xml'] },
  avro: { endings: ['avro'], types: ['application/avro'] },
  sqlite: { endings: ['sqlite', 'sqlite3', 'db', 'db3'], types: ['application/vnd.sqlite3'] },
  duckdb: { endings: ['duckdb', 'ddb'], types: ['application/vnd.duckdb'] },
  sav: { endings: ['sav', 'zsav'], types: ['application/x-spss-sav'] },
  px: { endings: ['px'], types: ['application/x-pcaxis'] },
  // Other compressed files are archives of one file.
  zip: {
    endings: ['zip', 'gz', 'zst'],
    types: ['application/zip', 'application/gzip', 'application/zstd'],
  },
} as const satisfies Readonly<Record<UploadFormat, FormatFacts>>

const FACTS: Readonly<Record<UploadFormat, FormatFacts>> = UPLOAD_FORMATS
const NAMES = Object.keys(FACTS) as UploadFormat[]

/** The formats as a sentence lists them. */
export const FORMATS_IN_PROSE = NAMES.join(', ')

/** The endings of the names of files that can be uploaded. */
export function allEndings(): readonly string[] {
  return NAMES.flatMap((format) => FACTS[format].endings)
}

export function isUploadFormat(name: string): name is UploadFormat {
  return Object.hasOwn(FACTS, name)
}

/** Whether a format is text, which may be packed with gzip. */
export function isTextFormat(format: UploadFormat): boolean {
  return FACTS[format].isText === true
}

/** The format that a file's name stands for. Compressed text is read as text; other files with gzip as archives. */
export function uploadFormatOf(fileName: string): { format: UploadFormat; gzip: boolean } | undefined {
  const [, ending = '', gz] = /\.([^./\\]+?)(\.gz)?$/i.exec(fileName) ?? []
  const format = NAMES.find((name) => FACTS[name].endings.includes(ending.toLowerCase()))
  if (gz === undefined) return format && { format, gzip: false }
  return format && isTextFormat(format) ? { format, gzip: true } : { format: 'zip', gzip: false }
}

/** The names of files that may be tables. Pages are often about the others. */
export function tablesAmong(names: readonly string[]): readonly string[] {
  const known = names.filter((name) => uploadFormatOf(name) !== undefined)
  const tables = known.filter((name) => uploadFormatOf(name)!.format !== 'html')
  return tables.length > 0 ? tables : known
}

/** The first bytes of files that are no text, none of which may begin a name in csv. A zip archive may be a workbook. */
const BEGINNINGS = [
  [/^PAR1(?![\w\s,;|"])/, 'parquet'],
  [/^ARROW1(?![\w\s,;|"])/, 'arrow'],
  [/^\xff{4}/, 'arrow'],
  [/^FEA1(?![\s,;|"])/, 'feather1'],
  [/^\xd0\xcf\x11\xe0/, 'xls'],
  [/^PK(?:\x03\x04|\x05\x06)/, 'zip'],
  [/^\x1f\x8b/, 'gzip'],
  [/^\x28\xb5\x2f\xfd/, 'zstd'],
  [/^BZh[1-9](?:1AY&SY|\x17rE8P\x90)/, 'bzip2'],
  [/^\xfd7zXZ\0/, 'xz'],
  [/^SQLite format 3\0/, 'sqlite'],
  [/^Obj\x01/, 'avro'],
  [/^.{8}DUCK/s, 'duckdb'],
  [/^\$FL[23]@\(#\)/, 'sav'],
  [/^[\x66-\x73][\x01\x02]\x01\0|^<stata_dta>/, 'dta'],
  [/^\0{12}\xc2\xea\x81\x60/, 'sas7bdat'],
  [/^HEADER RECORD\*{3}/, 'xpt'],
  [/^(?:RD[AX][23]\n|[XAB]\n\0\0\0[\x02\x03]\0)/, 'rds'],
] as const

export type BinaryFormat = (typeof BEGINNINGS)[number][1]

/** Files of other programs that have no reader here: what they are, and how to convert one. */
export const FOREIGN: Readonly<Record<string, readonly [what: string, instead: string]>> = {
  por: [
    'a portable file of SPSS (por)',
    "convert it, for example with pyreadstat: pyreadstat.read_por('file.por')[0].to_parquet('file.parquet')",
  ],
  dta: [
    'a Stata file (dta)',
    "convert it, for example with pandas: pandas.read_stata('file.dta').to_parquet('file.parquet')",
  ],
  sas7bdat: [
    'a SAS file (sas7bdat)',
    "convert it, for example with pyreadstat: pyreadstat.read_sas7bdat('file.sas7bdat')[0].to_parquet('file.parquet')",
  ],
  xpt: [
    'a SAS transport file (xpt)',
    "convert it, for example with pyreadstat: pyreadstat.read_xport('file.xpt')[0].to_parquet('file.parquet')",
  ],
  rds: ['a file of R', "convert it in R: arrow::write_parquet(readRDS('file.rds'), 'file.parquet')"],
}

/** The same for a file that is known only by its name, as a sentence. */
export function foreignNamed(fileName: string): string | undefined {
  const ending = /\.([^./\\]+)$/.exec(fileName)?.[1]?.toLowerCase() ?? ''
  const name = /^(?:rdata|rda)$/.test(ending) ? 'rds' : ending
  const found = Object.hasOwn(FOREIGN, name) ? FOREIGN[name] : undefined
  return found && `it is ${found[0]}: ${found[1]}`
}

/** The beginning of a page that may have a table. */
const PAGE = /^(?:\xef\xbb\xbf)?\s*(?:<!doctype\s+html|<html[\s>]|<[a-z!][\s\S]*<table[\s>])/i

/** How many bytes the longest beginning has. */
export const BINARY_BYTES = 16

/** The binary format that a file has by its first `BINARY_BYTES`; undefined for text. */
export function binaryFormat(head: Buffer): BinaryFormat | undefined {
  const start = head.toString('latin1', 0, BINARY_BYTES)
  return BEGINNINGS.find(([bytes]) => bytes.test(start))?.[1]
}

/** The format of a file by its name and its first bytes. What can't be read is named by the reader of what it is given. */
export function guessedFormat(head: Buffer, name = ''): { format: UploadFormat; gzip: boolean } {
  const named = uploadFormatOf(name)
  if (named) return named
  const binary = binaryFormat(head)
  if (binary === 'gzip' || binary === 'zstd') return { format: 'zip', gzip: false }
  if (binary === 'zip') return { format: guessedArchive(head), gzip: false }
  if (binary) return { format: isUploadFormat(binary) ? binary : 'xlsx', gzip: false }
  if (PAGE.test(head.toString('latin1'))) return { format: 'html', gzip: false }
  if (/^\s*<\?(?:xml|mso-)/.test(head.toString('latin1', 0, 64))) return { format: 'xls', gzip: false }
  const [first = '', second = ''] = head.toString('latin1').trimStart().split('\n', 2)
  if (/^\[/.test(first)) return { format: 'json', gzip: false }
  if (/^\{/.test(first))
    return { format: /^\{.*\}\s*$/.test(first) && /^\{/.test(second) ? 'ndjson' : 'json', gzip: false }
  return { format: first.includes('\t') && !/[,;]/.test(first) ? 'tsv' : 'csv', gzip: false }
}

/** What a zip archive is by the name of its first entry (APPNOTE.TXT, 4.3.7). Its reader looks at all of them. */
function guessedArchive(head: Buffer): UploadFormat {
  const first = head.length < 30 ? '' : head.toString('latin1', 30, 30 + head.readUInt16LE(26))
  if (first === 'mimetype') return 'ods'
  return /^(?:\[Content_Types\]\.xml$|_rels\/|docProps\/|xl\/)/.test(first) ? 'xlsx' : 'zip'
}

/** Whether `dialect=auto` can choose how files of a format are read. A zip archive may hold one of these. */
export function hasDialect(format: UploadFormat): boolean {
  return format === 'zip' || READING.dialect.formats.some((one) => one === format)
}
