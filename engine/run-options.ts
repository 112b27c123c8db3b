import { EngineError } from './errors.ts'
import type { EncodeOptions } from './export/formats/encoder.ts'
import { checkEncoding, type Dialect } from './export/formats/text-dialect.ts'
import { FORMATS, type Format } from './types/index.ts'
import { type Names, requireKnown } from './util/known-options.ts'

export interface RunOptions {
  /** Aborting ends the query at once with `cancelled`. */
  readonly signal?: AbortSignal
}

export interface PagedOption {
  /**
   * The window is a page, and a query for the next page will probably follow. If it follows within some seconds, it
   * goes on reading where this one ended, which takes less time than to begin again.
   */
  readonly paged?: boolean
}

export type BytesOptions = RunOptions & EncodeOptions & PagedOption

const KNOWN: Names<BytesOptions> = {
  signal: true,
  dialect: true,
  sheetName: true,
  overlong: true,
  coding: true,
  paged: true,
  odata: true,
  numbers: true,
  around: true,
}

const KNOWN_DIALECT: Names<Dialect> = {
  bom: true,
  delimiter: true,
  decimal: true,
  null: true,
  formulas: true,
}

/** @throws EngineError `invalid_option` */
export function checkBytes(format: Format, options: BytesOptions): void {
  if (!FORMATS.includes(format)) {
    throw new EngineError(
      'invalid_option',
      `Unknown format ${JSON.stringify(format)}; known are ${FORMATS.join(', ')}.`,
    )
  }
  requireKnown(options, KNOWN)
  requireKnown(options.dialect ?? {}, KNOWN_DIALECT)
  checkEncoding(format, options)
}
