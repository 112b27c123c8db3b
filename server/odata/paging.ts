import { ODataError } from './errors.ts'

/** Where a next page begins: opaque to clients. */
export interface Position {
  /** The version of the dataset, so that pages fit together while others write. */
  readonly version: number
  /** Rows of the question that earlier pages held. */
  readonly offset: number
}

export function skipToken({ version, offset }: Position): string {
  return `${version}-${offset}`
}

/** @throws ODataError 400 where the token is none of ours */
export function positionOf(token: string): Position {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(token)
  if (match) return { version: Number(match[1]), offset: Number(match[2]) }
  throw new ODataError(
    'badRequest',
    '$skiptoken is none that this service gave: follow @odata.nextLink as it is.',
    '$skiptoken',
  )
}

/**
 * The page size that a `Prefer` header asks for (Protocol 4.01, 8.2.8.8), by the name of 4.0 or of 4.01.
 * Undefined where it asks for none; what is malformed is passed over, as RFC 7240 says of every preference.
 */
export function preferredPageSize(prefer: string | undefined): { name: string; size: number } | undefined {
  const match = /(?:^|[,;\s])((?:odata\.)?maxpagesize)\s*=\s*"?(\d{1,9})"?/i.exec(prefer ?? '')
  const size = Number(match?.[2] ?? 0)
  return size > 0 ? { name: match![1]!.toLowerCase(), size } : undefined
}

/** The window of one page, out of the window that the question has itself. */
export function pageWindow(
  asked: { readonly top?: number | undefined; readonly skip?: number | undefined },
  offset: number,
  pageSize: number,
): { readonly skip: number; readonly top: number } {
  const left = asked.top === undefined ? Number.POSITIVE_INFINITY : Math.max(asked.top - offset, 0)
  return { skip: (asked.skip ?? 0) + offset, top: Math.min(left, pageSize) }
}
