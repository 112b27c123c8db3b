import { invalidOption } from './errors.ts'
import type { Strategy } from './export/choose.ts'
import type { EncodeOptions } from './export/formats/encoder.ts'
import { checkEncoding } from './export/formats/encoder.ts'
import { OTHER_FORMATS } from './options.ts'
import { METADATA_KEY } from './types/file-metadata.ts'
import { FORMATS, type Format } from './types/index.ts'
import { requireKnown } from './util/known-options.ts'

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

export interface CountedOption {
  /** `matches` of the stream is then always known: if need be, the rows are counted while they are read. */
  readonly counted?: boolean
}

export type BytesOptions = RunOptions & EncodeOptions & PagedOption & CountedOption

const KNOWN = {
  signal: true,
  dialect: true,
  sheetName: true,
  coding: true,
  paged: true,
  counted: true,
  odata: true,
  ieee754: true,
  numbers: true,
  metadata: true,
  plainTypes: true,
  envelope: true,
  ...OTHER_FORMATS,
} satisfies Record<keyof BytesOptions, unknown>

/**
 * What the encoder is told: what was asked for, and what the strategy and the dataset add to it.
 * @param words what the file says about the dataset, as JSON
 */
export function encodingOf(
  { signal: _, paged: __, counted: ___, ...encoding }: BytesOptions,
  strategy: Strategy,
  words: string | undefined,
): EncodeOptions {
  const numbers = 'numbers' in strategy ? strategy.numbers : undefined
  return {
    ...encoding,
    ...(numbers && { numbers }),
    ...(words !== undefined && { metadata: new Map([[METADATA_KEY, words]]) }),
  }
}

/** @throws EngineError `invalid_option` */
export function checkBytes(format: Format, options: BytesOptions): void {
  if (!FORMATS.includes(format)) {
    throw invalidOption(`Unknown format ${JSON.stringify(format)}; known are ${FORMATS.join(', ')}.`)
  }
  requireKnown(options, KNOWN)
  checkEncoding(format, options)
}
