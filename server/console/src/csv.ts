/** A field of a csv line. null is an empty field without quotes, which is how the server writes null. */
export type Field = string | null

export interface CsvOptions {
  readonly delimiter?: string
  /** Whether the text is the beginning of a longer one, so that an unfinished last line is ignored. */
  readonly head?: boolean
  /** Stop after this many lines, including the header. */
  readonly maxRows?: number
}

/** A malformed line. Lines are counted from 1, which is the header. */
export class CsvError extends Error {
  override readonly name = 'CsvError'
  readonly line: number

  constructor(message: string, line: number) {
    super(message)
    this.line = line
  }
}

/**
 * Parses RFC 4180 text: quoted fields may contain delimiters, line ends and doubled quotes; lines end with `\n`, `\r\n`
 * or `\r`. An empty line, unless it is the last, has one field, which is null.
 *
 * @throws CsvError if a quote is never closed, or a closing quote is not followed by a delimiter
 */
export function parseCsv(text: string, options: CsvOptions = {}): Field[][] {
  const delimiter = options.delimiter ?? ','
  const maxRows = options.maxRows ?? Number.POSITIVE_INFINITY
  const rows: Field[][] = []
  let row: Field[] = []
  let at = text.startsWith('\uFEFF') ? 1 : 0

  while (at < text.length && rows.length < maxRows) {
    let field: Field
    if (text[at] === '"') {
      const end = closingQuote(text, at)
      if (end < 0) {
        if (options.head) return rows
        throw new CsvError('A quote is never closed.', rows.length + 1)
      }
      field = text.slice(at + 1, end).replaceAll('""', '"')
      at = end + 1
      const next = text[at]
      if (next !== undefined && next !== delimiter && next !== '\n' && next !== '\r') {
        throw new CsvError(`Expected a delimiter after a closing quote, found "${next}".`, rows.length + 1)
      }
    } else {
      const start = at
      while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at += 1
      field = at === start ? null : text.slice(start, at)
    }
    row.push(field)

    if (text[at] === delimiter) {
      at += 1
      // A delimiter at the end of the text is followed by an empty field.
      if (at === text.length) row.push(null)
      continue
    }
    if (at >= text.length) break
    at += text[at] === '\r' && text[at + 1] === '\n' ? 2 : 1
    rows.push(row)
    row = []
  }
  if (row.length > 0 && rows.length < maxRows && !options.head) rows.push(row)
  return rows
}

function closingQuote(text: string, start: number): number {
  let at = start + 1
  for (;;) {
    at = text.indexOf('"', at)
    if (at < 0 || text[at + 1] !== '"') return at
    at += 2
  }
}
