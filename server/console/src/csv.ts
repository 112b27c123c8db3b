import type { Download } from '../../client/index.ts'

/** A field of a csv line. null is an empty field without quotes, which is how the server writes null. */
export type Field = string | null

export interface RowWindow {
  /** Cells as text, with all digits as in the server's csv; null for no value. */
  readonly rows: readonly (readonly Field[])[]
  /** The number of rows that match the filter, regardless of `skip` and `top`. */
  readonly rowCount: number
}

/** Reads rows that the server sends as csv. @throws ParquetryError */
export async function rowsIn(answer: Download): Promise<RowWindow> {
  const [, ...rows] = parseCsv(await answer.text())
  return { rows, rowCount: answer.rowCount ?? rows.length }
}

const FIELD = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n][^,\r\n]*|))(,|\r\n|\n|\r|$)/gy

/**
 * Parses the csv that the server writes, by RFC 4180: quoted fields may contain delimiters, line ends and doubled
 * quotes. An empty line, unless it is the last, has one field, which is null.
 */
export function parseCsv(text: string): Field[][] {
  const rows: Field[][] = []
  let row: Field[] = []
  FIELD.lastIndex = text.startsWith('\uFEFF') ? 1 : 0
  while (FIELD.lastIndex < text.length || row.length > 0) {
    const match = FIELD.exec(text)
    if (!match) throw new Error('The answer has broken quotes.')
    row.push(match[1]?.replaceAll('""', '"') ?? (match[2] || null))
    if (match[3] === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}
