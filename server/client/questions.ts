import type { CallOptions } from './transport.ts'

/** What rows are wanted: the options of `GET /datasets/{id}/data`. */
export interface Question extends CallOptions {
  /** An OData 4.01 `$filter` expression. */
  readonly filter?: string | undefined
  /** Transformations, the text of `$apply`; all other options speak of what comes out. */
  readonly apply?: string | undefined
  /** Further columns, the text of `$compute`. */
  readonly compute?: string | undefined
  /** Words that the text columns hold, the text of `$search`. */
  readonly search?: string | undefined
  /** Columns, in the order wanted; or the text of `$select`. */
  readonly select?: string | readonly string[] | undefined
  /** Sort keys, the first one first; or the text of `$orderby`, which takes expressions. */
  readonly orderBy?:
    | string
    | readonly { readonly column: string; readonly descending?: boolean }[]
    | undefined
  /** At most so many rows from the start. Not together with `last`. */
  readonly top?: number | undefined
  /** At most so many rows from the end. Not together with `top` or `skip`. */
  readonly last?: number | undefined
  /** Rows to pass over at the start. */
  readonly skip?: number | undefined
}

/** How a format is written, where otherwise than usual. The server refuses what does not fit the format. */
export interface Writing {
  /** csv, tsv: begins with a byte order mark, by which Excel knows UTF-8. */
  readonly bom?: boolean | undefined
  /** csv: one sign between the fields, as `;`, `|` or a tab. */
  readonly delimiter?: string | undefined
  /** csv, tsv: what stands before the places of doubles and decimals. A comma needs another `delimiter`. */
  readonly decimal?: '.' | ',' | undefined
  /** csv, tsv: a text for null; values that look the same have quotes. */
  readonly null?: string | undefined
  /** csv, tsv: texts that a spreadsheet would calculate get an apostrophe. */
  readonly formulas?: 'escape' | undefined
  /** xlsx: texts of more than 32,767 characters are cut, and say so; otherwise they are refused. */
  readonly overlong?: 'cut' | undefined
}

/** A question as query parameters. */
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

/** Names that are no identifier may hold commas, blanks and quotes. */
function quoted(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}
