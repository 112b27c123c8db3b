import type { ColumnReading } from '../request.ts'
import type { SampledRow } from './columns.ts'
import { type Field, Tokenizer } from './tokenizer.ts'

export const SAMPLE_RECORDS = 1000

/** The first records, without blank lines and without one that is cut off; none if they are malformed. */
export function recordsOf(text: string, delimiter: string): Field[][] {
  const records: Field[][] = []
  const bytes = Buffer.from(`${text}\r`)
  const tokenizer = new Tokenizer(delimiter, (what) => new Error(what))
  try {
    for (let at = 0; records.length < SAMPLE_RECORDS; ) {
      const final = records.length === 0 && !bytes.includes('\n', at)
      const next = tokenizer.read(bytes, at, bytes.length - 1, final)
      if (next === at) break
      at = next
      if (!tokenizer.isBlank) records.push(tokenizer.fields(bytes))
    }
    return records
  } catch {
    return []
  }
}

export interface Layout {
  readonly skip: number
  readonly delimiter: string
  readonly records: readonly (readonly Field[])[]
  /** Those right above the first of these, up to a blank line. */
  readonly above: readonly (readonly Field[])[]
}

export const rowsOf = (records: readonly (readonly Field[])[]): SampledRow[] =>
  records.map((fields, at) => ({ row: at + 1, fields }))

export const isValues = ({ is }: ColumnReading) => is === 'typed' || is === 'ambiguous'
