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

/** The options as query parameters. */
export function parameters(question: Question & Writing) {
  const { filter, apply, compute, search, select, orderBy, top, last, skip } = question
  const { bom, delimiter, decimal, null: missing, formulas, overlong } = question
  return {
    $filter: filter,
    $apply: apply,
    $compute: compute,
    $search: search,
    $select: typeof select === 'string' ? select : select?.map(quoted).join(','),
    $orderby:
      typeof orderBy === 'string'
        ? orderBy
        : orderBy?.map((key) => `${quoted(key.column)}${key.descending ? ' desc' : ''}`).join(','),
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

/** Names that aren't identifiers may contain commas, spaces and quotes. */
function quoted(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}
