import type { CallOptions } from './transport.ts'

/** What rows are wanted: the options of `GET /datasets/{id}/data`. */
export interface Question extends CallOptions {
  /** An OData 4.01 `$filter` expression. */
  readonly filter?: string | undefined
  /** An OData `$apply`: groups and aggregates; the other options then speak of its result. */
  readonly apply?: string | undefined
  /** Columns, in the order wanted; or the text of `$select`. */
  readonly select?: string | readonly string[] | undefined
  /** Sort keys, the first one first; or the text of `$orderby`. */
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

/** A question as query parameters. */
export function parameters({ filter, apply, select, orderBy, top, last, skip }: Question) {
  return {
    $apply: apply,
    $filter: filter,
    $select: typeof select === 'string' ? select : select?.map(quoted).join(','),
    $orderby:
      typeof orderBy === 'string'
        ? orderBy
        : orderBy?.map((key) => `${quoted(key.column)}${key.descending ? ' desc' : ''}`).join(','),
    $top: top,
    $last: last,
    $skip: skip,
  }
}

/** Names that are no identifier may hold commas, blanks and quotes. */
function quoted(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}
