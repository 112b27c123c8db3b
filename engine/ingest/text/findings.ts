import { EngineError } from '../../errors.ts'
import type { Column, ColumnType } from '../../types/index.ts'

/** Why a column is text: the first value that no narrower type of the column holds. Rows count from 1. */
export interface TextReason {
  readonly row: number
  readonly value: string
  /** The type of the values above it, unless they are text or missing. Then the value may be in a row of totals. */
  readonly above?: ColumnType
  /** Options with which the value may be what was meant, as in a query string: `decimal=,&thousands=.`. */
  readonly try?: string
}

/** What is often meant by texts, and the options with which they are read as that. */
const SUGGESTIONS: readonly (readonly [RegExp, string])[] = [
  [/^[-+]?\d{1,3}(\.\d{3})+,\d+$/, 'decimal=,&thousands=.'],
  [/^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$/, 'thousands=,'],
  [/^[-+]?\d{1,3}([ \u00a0\u202f]\d{3})+(,\d+)?$/, 'decimal=,&thousands=%20'],
  [/^[-+]?\d*,\d+$/, 'decimal=,'],
  [/^\d{1,2}\.\d{1,2}\.\d{4}( |T|$)/, 'dates=D.M.YYYY'],
  [/^\d{1,2}\/(1[3-9]|2\d|3[01])\/\d{4}( |T|$)/, 'dates=M/D/YYYY'],
  // The first of two numbers up to 12 may be either. Whoever is offered days first learns of the option.
  [/^\d{1,2}\/\d{1,2}\/\d{4}( |T|$)/, 'dates=D/M/YYYY'],
  [/^\d{4}\/\d{1,2}\/\d{1,2}( |T|$)/, 'dates=YYYY/M/D'],
  [/^(NA|N\/A|NULL|null|None|n\/a|-|\.|\\N)$/, 'nulls='],
]

/** How much of a value is kept to be shown. */
const SHOWN = 200

/** @param above the type that the column would have without this value and those behind it */
export function textReason(row: number, value: string, above: ColumnType = 'string'): TextReason {
  const found = SUGGESTIONS.find(([pattern]) => pattern.test(value))?.[1]
  const better = found?.endsWith('=') ? found + encodeURIComponent(value) : found
  return {
    row,
    value: value.slice(0, SHOWN),
    ...(above !== 'string' && { above }),
    ...(better !== undefined && { try: better }),
  }
}

/** A column of an upload, with the reason why it is text. */
export interface ExplainedColumn extends Column {
  readonly because?: TextReason
}

export function explainedColumns(
  columns: readonly Column[],
  reasons: readonly (TextReason | undefined)[] = [],
): ExplainedColumn[] {
  return columns.map((column, index) => {
    const because = reasons[index]
    return because ? { ...column, because } : column
  })
}

/** One of the things that are wrong with an upload. */
export interface UploadFault {
  readonly row?: number
  readonly column?: string
  readonly value?: string
  readonly error: string
}

/** How many faults of an upload one error lists. */
export const MOST_FAULTS = 20
/** How many bytes behind the first fault are looked at for others. */
const LOOK_BYTES = 8 << 20

/** Collects faults of an upload, so that one error lists the first twenty of them. */
export class Faults {
  readonly #found: EngineError[] = []
  #looked = 0

  /** Counts bytes that were read. @throws EngineError `invalid_upload` if the first fault is far behind them */
  read(bytes: number): void {
    if (this.#found.length === 0) return
    this.#looked += bytes
    if (this.#looked > LOOK_BYTES) this.check()
  }

  /** @throws EngineError `invalid_upload` if there are enough */
  add(fault: EngineError): void {
    this.#found.push(fault)
    if (this.#found.length >= MOST_FAULTS) this.check()
  }

  /** @throws EngineError `invalid_upload` if there are any */
  check(): void {
    const [first] = this.#found
    if (!first) return
    const errors = this.#found.flatMap(faultsOf)
    throw new EngineError(first.code, first.message, { details: { ...first.details, errors } })
  }

  /** An error behind which nothing can be read, after the faults that were found before it. */
  before(error: unknown): unknown {
    const isFault = error instanceof EngineError && error.code === 'invalid_upload'
    if (this.#found.length === 0 || !isFault || error.details?.['errors'] !== undefined) return error
    try {
      this.#found.push(error)
      this.check()
    } catch (all) {
      return all
    }
  }
}

/** The same error with more details, and perhaps another message. */
export function withDetails(
  { code, message, cause, details }: EngineError,
  more: Readonly<Record<string, unknown>>,
  other = message,
): EngineError {
  return new EngineError(code, other, { cause, details: { ...details, ...more } })
}

/** What is wrong with an upload, according to its error. */
export function faultsOf({ message, details = {} }: EngineError): readonly UploadFault[] {
  const { row, column, value, errors } = details as Partial<UploadFault> & {
    readonly errors?: readonly UploadFault[]
  }
  if (errors) return errors
  return [
    {
      ...(row !== undefined && { row }),
      ...(column !== undefined && { column }),
      ...(value !== undefined && { value }),
      error: message,
    },
  ]
}
