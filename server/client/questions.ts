import { type Names, requireKnown } from './known-options.ts'
import type { CallOptions } from './transport.ts'

/** Which rows to read: the options of `GET /datasets/{id}/data`. */
export interface Question extends CallOptions {
  /** An OData 4.01 `$filter` expression. */
  readonly filter?: string | undefined
  /** Transformations, as the text of `$apply`. All other options then refer to their result. */
  readonly apply?: string | undefined
  /** Calculated columns, as the text of `$compute`. */
  readonly compute?: string | undefined
  /** Words to find in text columns, as the text of `$search`. */
  readonly search?: string | undefined
  /** The columns wanted, in this order; or the text of `$select`. */
  readonly select?: string | readonly string[] | undefined
  /** Sort keys, most significant first; or the text of `$orderby`, which may contain expressions. */
  readonly orderBy?:
    | string
    | readonly { readonly column: string; readonly descending?: boolean }[]
    | undefined
  /** The most rows to read, from the start. Not with `last`. */
  readonly top?: number | undefined
  /** The most rows to read, from the end. Not with `top` or `skip`. */
  readonly last?: number | undefined
  /** The number of rows to skip at the start. */
  readonly skip?: number | undefined
}

/** Options of a format. The server refuses those that the format doesn't have. */
export interface Writing {
  /** csv, tsv: whether to begin with a byte order mark, by which Excel recognizes UTF-8. */
  readonly bom?: boolean | undefined
  /** csv: one character between fields, for example `;`, `|` or a tab. */
  readonly delimiter?: string | undefined
  /** csv, tsv: the decimal separator of doubles and decimals. A comma needs another `delimiter`. */
  readonly decimal?: '.' | ',' | undefined
  /** csv, tsv: the text for null. Values that are equal to it are quoted. */
  readonly null?: string | undefined
  /** csv, tsv: puts an apostrophe before texts that a spreadsheet would run as formulas. */
  readonly formulas?: 'escape' | undefined
  /** xlsx: cuts texts of more than 32,767 characters and marks them as cut. Without it they are an error. */
  readonly overlong?: 'cut' | undefined
}

const QUESTION: Names<Question & Writing> = {
  filter: true,
  apply: true,
  compute: true,
  search: true,
  select: true,
  orderBy: true,
  top: true,
  last: true,
  skip: true,
  bom: true,
  delimiter: true,
  decimal: true,
  null: true,
  formulas: true,
  overlong: true,
  signal: true,
}

const SORT_KEY = { column: true, descending: true } as const

/**
 * The options as query parameters.
 * @param others further options of the call
 * @throws ParquetryError `invalid_option`
 */
export function parameters(question: Question & Writing, others: Readonly<Record<string, true>> = {}) {
  requireKnown(question, { ...QUESTION, ...others })
  const { filter, apply, compute, search, select, orderBy, top, last, skip } = question
  const { bom, delimiter, decimal, null: missing, formulas, overlong } = question
  return {
    $filter: filter,
    $apply: apply,
    $compute: compute,
    $search: search,
    $select: typeof select === 'string' ? select : select?.map(quoted).join(','),
    $orderby: typeof orderBy === 'string' ? orderBy : orderBy?.map(sortKey).join(','),
    $top: top,
    $last: last,
    $skip: skip,
    $bom: bom,
    $delimiter: delimiter,
    $decimal: decimal,
    $null: missing,
    $formulas: formulas,
    $overlong: overlong,
  }
}

function sortKey(key: { readonly column: string; readonly descending?: boolean }): string {
  requireKnown(key, SORT_KEY)
  return `${quoted(key.column)}${key.descending ? ' desc' : ''}`
}

/** Names that aren't identifiers may contain commas, spaces and quotes. */
function quoted(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}
