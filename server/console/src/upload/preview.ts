import { CsvError, type Field, parseCsv } from '../csv.ts'
import { type Dialect, decode, detectDialect, isTextByPoint, readField, readText } from './dialect.ts'
import type { FileKind } from './formats.ts'
import { inferType } from './infer.ts'
import { type Preview, PreviewError, type Reading } from './model.ts'
import { previewObjects } from './preview-json.ts'
import { previewParquet } from './preview-parquet.ts'
import { previewSheet } from './preview-xlsx.ts'

const HEAD_BYTES = 1 << 20
const SHOWN = 8

/** Detects the dialect of a csv or tsv file from its beginning; undefined for other formats. @throws PreviewError */
export async function findDialect(file: File, { format, gzip }: FileKind): Promise<Dialect | undefined> {
  if ((format !== 'csv' && format !== 'tsv') || file.size === 0) return undefined
  return detectDialect((await headOf(file, gzip)).bytes, format)
}

/**
 * Reads the preview of a file; undefined for Arrow, which has none.
 * @param reading as detected by default
 * @throws PreviewError if the beginning of the file can't be read
 */
export async function previewFile(
  file: File,
  kind: FileKind,
  reading: Reading = {},
): Promise<Preview | undefined> {
  if (file.size === 0) throw new PreviewError(`${file.name} is empty.`)
  switch (kind.format) {
    case 'csv':
    case 'tsv': {
      const head = await headOf(file, kind.gzip)
      const how = reading.dialect ?? detectDialect(head.bytes, kind.format)
      return previewText(textOf(file, head, how.encoding), head.whole, how)
    }
    case 'json':
    case 'ndjson': {
      const head = await headOf(file, kind.gzip)
      const text = textOf(file, head, 'utf-8')
      const objects = previewObjects(text, head.whole, kind.format)
      const table = tabular(objects.columns, objects.rows, head.whole)
      const columns = table.columns.map(({ name, type }) => ({
        name,
        type: objects.nested.has(name) ? 'json' : type,
      }))
      return { ...table, columns }
    }
    case 'parquet':
      return previewParquet(file)
    case 'xlsx': {
      const sheet = await previewSheet(file, reading.sheet)
      return tabular(sheet.columns, sheet.rows, sheet.whole)
    }
    case 'arrow':
      return undefined
    default:
      return kind.format satisfies never
  }
}

interface Head {
  readonly bytes: Uint8Array
  /** Whether these bytes are the whole file. */
  readonly whole: boolean
}

/** The first megabyte of a text file, decompressed. */
async function headOf(file: File, gzip: boolean): Promise<Head> {
  const bytes: Uint8Array[] = []
  let length = 0
  let whole = true
  const stream = gzip ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream()
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      bytes.push(value)
      length += value.length
      if (length >= HEAD_BYTES) {
        whole = false
        break
      }
    }
  } catch {
    throw new PreviewError(`${file.name} is not gzip, although its name says so.`)
  } finally {
    reader.cancel().catch(() => undefined)
  }
  const all = new Uint8Array(length)
  let at = 0
  for (const piece of bytes) {
    all.set(piece, at)
    at += piece.length
  }
  return { bytes: all, whole }
}

function textOf(file: File, head: Head, encoding: Dialect['encoding']): string {
  try {
    return decode(head.bytes, encoding)
  } catch {
    const name = encoding.toUpperCase()
    throw new PreviewError(`${file.name} is not ${name} text. Save it as UTF-8, then choose it again.`)
  }
}

function previewText(text: string, whole: boolean, dialect: Dialect): Preview {
  const { delimiter, header: first } = dialect
  let lines: Field[][]
  try {
    lines = parseCsv(text, { delimiter, head: !whole })
  } catch (error) {
    if (error instanceof CsvError) throw new PreviewError(`Row ${error.line - 1}: ${error.message}`)
    throw error
  }
  const header = first === 'absent' ? lines[0]?.map((_, at) => `column${at + 1}`) : lines[0]
  const rows = first === 'absent' ? lines : lines.slice(1)
  if (!header) throw new PreviewError('There is no line with the names of the columns.')
  const crooked = rows.findIndex((row) => row.length !== header.length)
  if (crooked >= 0) {
    const found = rows[crooked]!.length
    throw new PreviewError(
      `Row ${crooked + 1} has ${found} ${found === 1 ? 'field' : 'fields'}, but there are ${header.length} columns.`,
    )
  }
  const preview = tabular(
    header.map((name, at) => name || (at === 0 && first === 'index' ? 'index' : '')),
    rows.map((row) => row.map((field) => readField(field, dialect))),
    whole,
  )
  const isText = (at: number) => rows.some((row) => isTextByPoint(row[at] ?? null, dialect))
  const columns = preview.columns.map((column, at) =>
    isText(at) ? { ...column, type: 'string' as const } : column,
  )
  const shown = preview.rows.map((row, index) =>
    row.map((value, at) =>
      columns[at]!.type === 'string' ? readText(rows[index]![at] ?? null, dialect) : value,
    ),
  )
  return { ...preview, columns, rows: shown }
}

function tabular(names: readonly string[], rows: readonly (readonly Field[])[], whole: boolean): Preview {
  return {
    columns: names.map((name, at) => ({ name, type: inferType(rows.map((row) => row[at] ?? null)) })),
    rows: rows.slice(0, SHOWN),
    rowCount: whole ? rows.length : undefined,
    typed: false,
    lookedAt: rows.length,
  }
}
