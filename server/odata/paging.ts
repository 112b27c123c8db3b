import type { Dataset } from '../../engine/index.ts'
import { ODataError } from './errors.ts'
import { KEY } from './metadata/model.ts'

/** Where the next page begins. Clients treat the token as opaque. */
export interface Position {
  /** The version of the dataset, so that all pages show the same data while others write. */
  readonly version: number
  /** The number of rows in the earlier pages. */
  readonly offset: number
  /** The page size that the client preferred for the first page, which holds for all others. */
  readonly size?: number | undefined
  /** Whether the last page has a delta link. */
  readonly tracked: boolean
}

export function skipToken({ version, offset, size, tracked }: Position): string {
  return `${version}-${offset}${size === undefined ? '' : `-${size}`}${tracked ? 'd' : ''}`
}

/** @throws ODataError 400 if the token is malformed */
export function positionOf(token: string): Position {
  const match = /^(\d{1,15})-(\d{1,15})(?:-([1-9]\d{0,8}))?(d?)$/.exec(token)
  if (match) {
    const [, version, offset, size, mark] = match
    return {
      version: Number(version),
      offset: Number(offset),
      size: size ? Number(size) : undefined,
      tracked: mark !== '',
    }
  }
  throw new ODataError(
    'badRequest',
    '$skiptoken is not from this service: use @odata.nextLink unchanged.',
    '$skiptoken',
  )
}

/**
 * The page size that a `Prefer` header asks for (Protocol 4.01, 8.2.8.8), and the name used for the preference: 4.0 and
 * 4.01 have different ones. Undefined if there is none. Malformed preferences are ignored, as RFC 7240 requires.
 */
export function preferredPageSize(prefer: string | undefined): { name: string; size: number } | undefined {
  const match = /(?:^|[,;\s])((?:odata\.)?maxpagesize)\s*=\s*"?(\d{1,9})"?/i.exec(prefer ?? '')
  const size = Number(match?.[2] ?? 0)
  return size > 0 ? { name: match![1]!.toLowerCase(), size } : undefined
}

/** The part of the window given by `$skip` and `$top` that belongs to one page. */
export function pageWindow(
  asked: { readonly top?: number | undefined; readonly skip?: number | undefined },
  offset: number,
  pageSize: number,
): { readonly skip: number; readonly top: number } {
  const left = asked.top === undefined ? Number.POSITIVE_INFINITY : Math.max(asked.top - offset, 0)
  return { skip: (asked.skip ?? 0) + offset, top: Math.min(left, pageSize) }
}

/** More versions than this are not followed: the client reads the table again. */
const MOST_VERSIONS = 100

/** The name under which a `Prefer` header asks for a delta link (Protocol 4.01, 8.2.8.6); undefined if it does not. */
export function trackedChanges(prefer: string | undefined): string | undefined {
  return /(?:^|[,;\s])((?:odata\.)?track-changes)(?=[,;\s]|$)/i.exec(prefer ?? '')?.[1]?.toLowerCase()
}

/** A delta link may go on from here. */
interface Added {
  /** Of the rows that were added. */
  readonly filter: string
  /** The version up to which they were added. */
  readonly version: number
}

/**
 * The rows that were added since a version, up to another one or the newest. The key of an entity is the place of its
 * row, so entities can be followed as long as rows are only appended.
 * @throws ODataError 400 for a token that is not of this service, 410 after any other change
 */
export async function addedSince(
  dataset: Dataset,
  token: string,
  { filter, until = Infinity }: { readonly filter: string | undefined; readonly until: number | undefined },
): Promise<Added> {
  if (!/^(0|[1-9]\d{0,14})$/.test(token)) {
    throw new ODataError(
      'badRequest',
      '$deltatoken is not from this service: use @odata.deltaLink unchanged.',
      '$deltatoken',
    )
  }
  const newest = await dataset.versions({ limit: MOST_VERSIONS })
  const versions = newest.filter(({ number }) => number <= until)
  const since = versions.findIndex(({ number }) => number === Number(token))
  if (since < 0 || versions.slice(0, since).some(({ operation }) => operation !== 'append')) {
    throw new ODataError(
      'gone',
      `Since version ${token} rows were not only appended. Read the entity set again, without $deltatoken.`,
      '$deltatoken',
    )
  }
  const added = `${KEY} gt ${versions[since]!.rowCount}`
  return {
    filter: filter === undefined ? added : `${added} and (${filter})`,
    version: versions[0]!.number,
  }
}
