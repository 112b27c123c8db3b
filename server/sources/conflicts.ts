import { ServerError } from '../http/errors.ts'
import type { Sources, StoredSource } from './sources.ts'

/** Refuses rows of clients where a source would remove them. @throws ServerError `follows_series` */
export async function notFollowing(sources: Sources, id: number): Promise<void> {
  const source = await sources.get(id)
  if (source) throw followsSeries(id, source)
}

/** The error for rows that a client sends to a dataset that follows series: the next refresh would remove them. */
function followsSeries(id: number, { address }: StoredSource): ServerError {
  const followed = !address ? 'series of providers' : 'query' in address ? 'a saved query' : 'a file'
  return new ServerError(
    'follows_series',
    `Dataset ${id} follows ${followed}, and the next refresh would remove rows that you write into it. To ` +
      `stop following, use DELETE /datasets/${id}/source.`,
  )
}

/** The error for series that are to be written to a dataset with other data, which they would replace. */
export function holdsOtherData(name: string): ServerError {
  return new ServerError(
    'other_data',
    `The dataset ${JSON.stringify(name)} holds other data, which the series would replace. Create a new dataset for ` +
      'them.',
  )
}
