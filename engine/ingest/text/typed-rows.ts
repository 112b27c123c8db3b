import type { Column } from '../../types/index.ts'
import type { CsvSource } from '../csv/load.ts'
import { settledColumns, type Target } from '../targets.ts'
import { acceptsValue } from './accepted.ts'
import { acceptance, CellWriter, inferTyped, UNIT_SEPARATOR } from './cell-writer.ts'
import { KIND } from './text-kinds.ts'
import { badValue, missingValue } from './value-errors.ts'

/** An upload rewritten as csv that DuckDB reads, and the columns of the part that it becomes. */
export interface Rewritten {
  readonly targets: readonly Target[]
  readonly source: CsvSource
}

/**
 * Writes rows as csv, cell by cell, and checks each cell against its column. It is for formats that tell text from
 * numbers and name the columns before the rows: the cells of each row come in the order of these names.
 */
export class TypedRows {
  readonly out = new CellWriter()
  rows = 0
  readonly #targets: readonly Target[]
  /** The target of each field of the upload. */
  readonly #fields: readonly Target[]
  readonly #scalars: number[]
  readonly #texts: number[]
  readonly #nulls: number[]
  readonly #widths: number[]
  #field = 0

  constructor(targets: readonly Target[]) {
    this.#targets = targets
    this.#fields = targets.filter(({ source }) => source !== undefined).sort((a, b) => a.source! - b.source!)
    const zeros = this.#fields.map(() => 0)
    this.#scalars = [...zeros]
    this.#texts = [...zeros]
    this.#nulls = [...zeros]
    this.#widths = [...zeros]
  }

  get width(): number {
    return this.#fields.length
  }

  null(): void {
    const field = this.#begin()
    if (!this.#fields[field]!.nullable) throw missingValue(this.rows + 1, this.#fields[field]!.name)
    this.#nulls[field]!++
  }

  /** Writes a value. @param isText whether the upload's format says that it is text, which never becomes a number */
  value(text: string, kind: number, isText: boolean): void {
    const field = this.#begin()
    const { name, type } = this.#fields[field]!
    if (type !== undefined) {
      // Many programs write a day as a timestamp at midnight.
      if (type === 'date' && kind & KIND.timestamp && text.endsWith('T00:00:00')) {
        text = text.slice(0, 10)
        kind = KIND.date
      }
      const accepted = acceptance(type, kind, isText)
      if (accepted === 'no' || (accepted === 'look' && !acceptsValue(type, text))) {
        throw badValue(this.rows + 1, name, text, type, isText)
      }
    }
    if (isText) this.#texts[field]! |= kind
    else this.#scalars[field]! |= kind
    this.#widths[field]! += this.out.appendText(text)
  }

  /** Writes a value that is known to be of its column's type, without a check. */
  trusted(text: string, kind: number): void {
    const field = this.#begin()
    this.#scalars[field]! |= kind
    this.#widths[field]! += this.out.appendText(text)
  }

  endRow(): void {
    while (this.#field < this.#fields.length) this.null()
    this.out.endRecord()
    this.rows++
    this.#field = 0
  }

  /** The columns and the csv's description, once all rows have been written to `file`. */
  result(file: string): Rewritten {
    const types = this.#targets.map(({ type, source }) => {
      return type ?? inferTyped(this.#scalars[source!]!, this.#texts[source!]!, false)
    })
    const columns: readonly Column[] = settledColumns(this.#targets, types)
    const { longest, quotes, quotedNewlines } = this.out
    return {
      targets: columns.map((column, index) => ({ ...column, source: this.#targets[index]!.source })),
      source: {
        files: [file],
        delimiter: String.fromCharCode(UNIT_SEPARATOR),
        newline: 'lf',
        header: false,
        fields: this.#fields.length,
        rows: this.rows,
        kinds: this.#scalars.map((scalars, field) => scalars | this.#texts[field]!),
        nulls: this.#nulls,
        widths: this.#widths,
        longest,
        quotes,
        quotedNewlines,
      },
    }
  }

  #begin(): number {
    if (this.#field > 0) this.out.delimit()
    return this.#field++
  }
}
