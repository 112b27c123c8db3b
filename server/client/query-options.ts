import { type OptionsOf, pick, QUERY, toHttp, type VERSION, WRITING } from '../../engine/options.ts'
import { checkOptions, requireKnown } from './errors.ts'
import type { CallOptions } from './transport.ts'

/** Which rows to read: the options of `GET /datasets/{id}/data`. */
export interface QueryOptions extends CallOptions, OptionsOf<typeof QUERY> {}

/** Which version of a dataset to read; the current one without them. */
export interface VersionOptions extends OptionsOf<typeof VERSION> {}

/** Options of a format. The server refuses those that the format doesn't have. */
export interface WritingOptions extends OptionsOf<typeof WRITING> {}

const ROWS = { ...QUERY, ...WRITING }

/**
 * The options as query parameters.
 * @param others further options of the call
 * @throws ParquetryError `invalid_option`
 */
export function parameters(
  query: QueryOptions & WritingOptions,
  others: Readonly<Record<string, unknown>> = {},
) {
  requireKnown(query, { ...ROWS, signal: true, ...others })
  const options = pick(query, ROWS)
  checkOptions(options, ROWS)
  return toHttp(options, ROWS)
}
