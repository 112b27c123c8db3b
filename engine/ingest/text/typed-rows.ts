import type { FileMetadata } from '../../types/file-metadata.ts'
import type { Column } from '../../types/index.ts'
import type { CsvSource } from '../csv/ingest.ts'
import { settledColumns, type Target } from '../targets.ts'
import { acceptsValue } from './accepted.ts'
import { acceptance, CellWriter, inferTyped } from './cell-writer.ts'
import { Faults, type TextReason, textReason } from './findings.ts'
import { TEXT_KIND } from './text-kinds.ts'
import { badValue, missingValue } from './value-errors.ts'

/** An upload rewritten as csv that DuckDB reads, and the columns of the part that it becomes. */
export interface Rewritten {
  readonly targets: readonly Target[]
  readonly source: CsvSource
  /** The names of a workbook's sheets. */
  readonly sheets?: readonly string[]
  readonly metadata?: FileMetadata['dataset']
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
  readonly #reasons: (TextReason | undefined)[]
  readonly #faults = new Faults()
  #field = 0

  constructor(targets: readonly Target[]) {
    this.#targets = targets
    this.#fields = targets.filter(({ source }) => source !== undefined).sort((a, b) => a.source! - b.source!)
    const zeros = this.#fields.map(() => 0)
    this.#scalars = [...zeros]
    this.#texts = [...zeros]
    this.#nulls = [...zeros]
    this.#widths = [...zeros]
    this.#reasons = zeros.map(() => undefined)
  }

  get width(): number {
    return this.#fields.length
  }

  null(): void {
    const field = this.#begin()
    const { name, nullable } = this.#fields[field]!
    if (!nullable) this.#faults.add(missingValue(this.rows + 1, name))
    this.#nulls[field]!++
  }

  /** Writes a value. @param isText whether the upload's format says that it is text, which never becomes a number */
  value(text: string, kind: number, isText: boolean): void {
    const field = this.#begin()
    const { name, type } = this.#fields[field]!
    if (type !== undefined) {
      // Many programs write a day as a timestamp at midnight.
      if (type === 'date' && kind & TEXT_KIND.timestamp && text.endsWith('T00:00:00')) {
        text = text.slice(0, 10)
        kind = TEXT_KIND.date
      }
      const accepted = acceptance(type, kind, isText)
      if (accepted === 'no' || (accepted === 'look' && !acceptsValue(type, text))) {
        this.#faults.add(badValue(this.rows + 1, name, text, type, isText))
      }
    }
    const kinds = isText ? this.#texts : this.#scalars
    if (type === undefined && kind & ~kinds[field]!) this.#note(field, kind, isText, text)
    kinds[field]! |= kind
    this.#widths[field]! += this.out.appendText(text)
  }

  /** Notes the value by which a column becomes text. */
  #note(field: number, kind: number, isText: boolean, text: string): void {
    const scalars = this.#scalars[field]! | (isText ? 0 : kind)
    const texts = this.#texts[field]! | (isText ? kind : 0)
    if (inferTyped(scalars, texts, false) !== 'string') return
    const above = inferTyped(this.#scalars[field]!, this.#texts[field]!, false)
    this.#reasons[field] ??= textReason(this.rows + 1, text, above)
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

  /**
   * The columns and the csv's description, once all rows have been written to `file`.
   * @throws EngineError `invalid_upload` that lists the values that don't fit into their columns
   */
  result(file: string): Rewritten {
    this.#faults.check()
    const types = this.#targets.map(({ type, source }) => {
      return type ?? inferTyped(this.#scalars[source!]!, this.#texts[source!]!, false)
    })
    const columns: readonly Column[] = settledColumns(this.#targets, types)
    const typeOf = new Map(this.#targets.map(({ source }, index) => [source, types[index]]))
    // A text such as NaN makes a column text only until numbers follow.
    const reasons = this.#reasons.map((reason, field) =>
      typeOf.get(this.#fields[field]!.source) === 'string' ? reason : undefined,
    )
    return {
      targets: columns.map((column, index) => ({ ...column, source: this.#targets[index]!.source })),
      source: this.out.csv(file, {
        rows: this.rows,
        kinds: this.#scalars.map((scalars, field) => scalars | this.#texts[field]!),
        nulls: this.#nulls,
        widths: this.#widths,
        reasons,
      }),
    }
  }

  #begin(): number {
    if (this.#field > 0) this.out.delimit()
    return this.#field++
  }
}
