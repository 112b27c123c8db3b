import { notUnderstood } from '../../failures.ts'
import { type Json, type JsonRecord, record, text } from '../../read.ts'

/** A table of text: every row has as many cells as there are columns. */
export interface CsvTable {
  readonly delimiter: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

const DELIMITERS = [',', ';', '\t'] as const

/**
 * Reads RFC 4180 text: quotes doubled inside quotes, line breaks inside quotes, LF or CRLF, with or without a byte
 * order mark. Providers use different delimiters, so the one that occurs most often in the header line is taken. Blank
 * rows are dropped: the IMF writes one for 'no observations'. A row with more or fewer cells than the header, or a
 * quote that is never closed, means a body that was cut off: throws `not_understood`.
 */
export function parseCsv(text: string): CsvTable {
  const delimiter = delimiterOf(text)
  const [header, ...body] = rowsOf(text, delimiter)
  if (header === undefined) throw notUnderstood('an empty body instead of CSV')
  const columns = header.map((name) => name.trim())
  const rows = body.filter((row) => row.some((cell) => cell !== ''))
  const wrong = rows.find((row) => row.length !== columns.length)
  if (wrong) {
    throw notUnderstood(`a CSV row of ${wrong.length} cells below a header of ${columns.length}`)
  }
  return { delimiter, columns, rows }
}

function delimiterOf(text: string): string {
  const line = text.slice(0, text.search(/[\r\n]|$/))
  const count = (delimiter: string) => line.split(delimiter).length
  return DELIMITERS.reduce((best, one) => (count(one) > count(best) ? one : best))
}

function rowsOf(text: string, delimiter: string): string[][] {
  // A cell, with quotes or plain, and what ends it.
  const plain = `[^"${delimiter}\\r\\n][^${delimiter}\\r\\n]*`
  const cell = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|(${plain})?)(${delimiter}|\\r\\n?|\\n|$)`, 'y')
  const rows: string[][] = []
  let row: string[] = []
  cell.lastIndex = text.startsWith('\ufeff') ? 1 : 0
  while (cell.lastIndex < text.length || row.length > 0) {
    const [, quoted, own = '', end] = cell.exec(text) ?? []
    if (end === undefined) throw notUnderstood('CSV that is cut off inside quotes, or has text behind them')
    row.push(quoted?.replaceAll('""', '"') ?? own)
    if (end === delimiter) continue
    rows.push(row)
    row = []
  }
  return rows
}

/** A text as it is, a number or boolean as text, anything else as `''`. */
export function textOf(value: Json | undefined): string {
  return text(value) ?? ''
}

/**
 * A localised text: from `names: {en: …}` if there is one, else from `name`, which is either text or `{en: …}` itself.
 */
export function inEnglish(object: JsonRecord, property: 'name' | 'description'): string {
  const own = object[property]
  const languages = record(own !== null && typeof own === 'object' ? own : object[`${property}s`])
  const english = Object.keys(languages).find((language) => language.toLowerCase().startsWith('en'))
  if (english !== undefined) return textOf(languages[english])
  return textOf(own) || textOf(Object.values(languages)[0])
}
