import type { Dataset } from '../../engine/index.ts'
import { ODataError } from './errors.ts'
import { KEY } from './metadata/model.ts'

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
