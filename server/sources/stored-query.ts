import type { Dataset, Engine, Upload } from '../../engine/index.ts'
import type { FollowedQuery, StoredSource } from './sources.ts'

/** Thrown where nothing would change, so that it makes no version. */
export class Unchanged extends Error {}

/** The rows that a dataset would have. */
type Made = Pick<Parameters<NonNullable<Upload['accept']>>[0], 'rows'>

interface Storing {
  readonly engine: Engine
  readonly dataset: Dataset
  readonly source: StoredSource
  readonly signal: AbortSignal
  readonly cpuSeconds: number | undefined
  /** How rows are written. @param digest says what they are of */
  readonly writing: (digest: (made: Made) => string) => Pick<Upload, 'signal' | 'by' | 'isRefresh' | 'accept'>
}

/**
 * Stores the rows of a query, or those that are new, unless its tables are as they were the last time. Gives what is known
 * of it now.
 */
export async function storeQuery(followed: FollowedQuery, storing: Storing): Promise<FollowedQuery> {
  const { engine, dataset, source, signal, cpuSeconds, writing } = storing
  const into = await dataset.record()
  const { version } = into
  // After a crash, what is known may be of the refresh before the one that made the rows.
  const isKnown = version === source.lastVersion && version === followed.read?.into
  const last = isKnown && followed.read ? { read: followed.read, into } : undefined
  const options = { signal, cpuSeconds, last }
  const { query, isAdded, because, read } = await engine.runQuery(followed.query, options)
  using _ = query
  const isSame = because === null ? read?.version === last?.read.version : query.etag === source.digest
  if (isSame) return followed
  const stored = (number: number): FollowedQuery => ({
    query: followed.query,
    read: read && { ...read, into: number },
    refresh: { by: because === null ? 'difference' : 'whole', because },
  })
  await using body = await query.bytes('parquet', { signal })
  const digest = (made: Made) => {
    if (isAdded && made.rows === into.rowCount) throw new Unchanged()
    return query.etag
  }
  const upload = { format: 'parquet', body, ...writing(digest) } as const
  try {
    const written = await (isAdded
      ? dataset.append(upload)
      : dataset.replace({ ...upload, replaceColumns: true }))
    return stored(written.version)
  } catch (error) {
    if (error instanceof Unchanged) return stored(version)
    throw error
  }
}
