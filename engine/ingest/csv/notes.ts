import { recordsOf } from './records.ts'
import type { Field } from './tokenizer.ts'

/** So many lines at the end are looked at for notes. */
const MOST_NOTES = 10

/** Whether a space follows each delimiter of a record. */
export const isSpaced = ([first, ...others]: readonly Field[]) =>
  !first!.quoted && others.every(({ text, quoted }) => !quoted && /^ ./.test(text))

/** Whether a record is a sentence with commas, and no row of a table whose rows are not like it. */
export const isSentence = (record: readonly Field[], row: readonly Field[] | undefined) =>
  record.length > 1 && isSpaced(record) && row !== undefined && (row.length < 2 || !isSpaced(row))

const NOTE =
  /^\s*(?:[*†‡©]|\(\w\)|(?:sources?|notes?|footnotes?|quellen?|anmerkung(?:en)?|hinweise?|stand|fuentes?|notas?|fonti?|fontes?|note?|bron(?:nen)?|last updated?|updated|copyright)\s*:)/i
const TOTAL =
  /^\s*(?:(?:grand |sub)?totals?|total(?:e|i|es)|totaal|summe|gesamt(?:summe)?|insgesamt|sum|somme|suma|razem|合計)\s*:?\s*$/i

/** Whether a record begins with a word such as `Source:`. */
export const isNamedNote = ([first]: readonly Field[]) => NOTE.test(first!.text)

/** Whether a record below a table is a note, unless it is another row. @param row one of the table */
export const mayBeNote = (record: readonly Field[], row: readonly Field[] | undefined) =>
  isNamedNote(record) || isSentence(record, row)

/**
 * The last records of a file that are no rows of a table of this width: how many are notes, how many of these have as many
 * fields as a row, and the record above them.
 * @param row one of the table
 * @param isRow whether a record of as many fields that may be a note is another row
 */
export function endOf(
  end: string,
  delimiter: string,
  width: number,
  row: readonly Field[] | undefined,
  isRow: (record: readonly Field[]) => boolean,
) {
  const lines = end.split('\n').map((line) => line.replace(/\r$/, ''))
  let [count, wide, open, note] = [0, 0, 0, '']
  let found = { notes: 0, wide: 0 }
  lines.reverse()
  for (const [at, line] of lines.entries()) {
    // The end of a text in quotes, of which the lines above are a part.
    if (line.split('"').length % 2 === 0) return { ...found, note }
    const fields = line === '' ? [] : (recordsOf(line, delimiter)[0] ?? [])
    if (fields.length > 0) count++
    if (fields.length === width) wide++
    const filled = fields.filter(({ text }) => text !== '').length
    if (filled === 0) {
      // What is below a blank line is no row that was cut off.
      if (open > 0 || (fields.length > 0 && found.notes === count - 1 && found.notes > 0))
        found = { notes: count, wide }
      open = 0
      continue
    }
    const isNote = fields[0]!.text !== '' && isNoteOf(fields, filled)
    if (!isNote || count > MOST_NOTES) {
      const isLast = found.notes === count - 1
      return {
        ...found,
        note,
        ...(isLast && { last: fields, padding: paddingIn(lines.slice(at + 1), delimiter) }),
      }
    }
    if (isNamedNote(fields)) found = { notes: count, wide }
    else open++
    note = line
  }
  return { ...found, note }

  function isNoteOf(fields: readonly Field[], filled: number): boolean {
    if (filled === 1) return width > 1 && (fields.length < width || isNamedNote(fields))
    return mayBeNote(fields, row) && (fields.length !== width || !isRow(fields))
  }
}

/** How many lines at the beginning have delimiters alone, as spreadsheet programs write a blank row. */
function paddingIn(lines: readonly string[], delimiter: string): number {
  const isPadding = (line: string) => line !== '' && line.replaceAll(delimiter, '') === ''
  const end = lines.findIndex((line) => !isPadding(line))
  return end < 0 ? lines.length : end
}

/** Whether a record may be one of totals. */
export const isTotal = (fields: readonly Field[]) =>
  TOTAL.test(fields.find(({ text }) => text !== '')?.text ?? '')
