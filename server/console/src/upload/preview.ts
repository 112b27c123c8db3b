import { CsvError, type Field, parseCsv } from '../csv.ts'
import type { FileKind } from './formats.ts'
import { inferType } from './infer.ts'
import { type Preview, PreviewError } from './model.ts'
import { previewObjects } from './preview-json.ts'
import { previewParquet } from './preview-parquet.ts'
import { previewSheet } from './preview-xlsx.ts'

const HEAD_BYTES = 1 << 20
const SHOWN = 8

/** @throws PreviewError where already the beginning can't be read */
export async function previewFile(file: File, kind: FileKind): Promise<Preview | undefined> {
  if (file.size === 0) throw new PreviewError(`${file.name} is empty.`)
  switch (kind.format) {
    case 'csv':
    case 'tsv':
      return previewText(await headOf(file, kind.gzip), kind.format === 'tsv' ? '\t' : ',')
    case 'json':
    case 'ndjson': {
      const head = await headOf(file, kind.gzip)
      const objects = previewObjects(head.text, head.whole, kind.format)
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
      const sheet = await previewSheet(file)
      return tabular(sheet.columns, sheet.rows, sheet.whole)
    }
    case 'arrow':
      return undefined
    default:
      return kind.format satisfies never
  }
}

interface Head {
  readonly text: string
  /** Whether this is all of the file. */
  readonly whole: boolean
}

/** The first megabyte of text, unpacked; a character that the cut has halved is left away. */
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
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    const text = bytes.map((piece) => decoder.decode(piece, { stream: true })).join('')
    return { text: text + (whole ? decoder.decode() : ''), whole }
  } catch {
    throw new PreviewError(`${file.name} is not UTF-8 text. Save it as UTF-8, then choose it again.`)
  }
}

function previewText(head: Head, delimiter: ',' | '\t'): Preview {
  let lines: Field[][]
  try {
    lines = parseCsv(head.text, { delimiter, head: !head.whole })
  } catch (error) {
    if (error instanceof CsvError) throw new PreviewError(`Row ${error.line - 1}: ${error.message}`)
    throw error
  }
  const [header, ...rows] = lines
  if (!header) throw new PreviewError('There is no line with the names of the columns.')
  const crooked = rows.findIndex((row) => row.length !== header.length)
  if (crooked >= 0) {
    const found = rows[crooked]!.length
    throw new PreviewError(
      `Row ${crooked + 1} has ${found} ${found === 1 ? 'field' : 'fields'}, but there are ${header.length} columns.`,
    )
  }
  return tabular(
    header.map((name) => name ?? ''),
    rows,
    head.whole,
  )
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
