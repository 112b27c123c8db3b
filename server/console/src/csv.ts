/** A field of a csv line. null is an empty field without quotes, which is how the server writes null. */
export type Field = string | null

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
