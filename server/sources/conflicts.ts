import { ServerError } from '../http/errors.ts'

/** The error for rows that a client sends to a dataset that follows series: the next refresh would remove them. */
export function followsSeries(id: number): ServerError {
  return new ServerError(
    'follows_series',
    `Dataset ${id} follows series of providers, and the next refresh would remove rows that you write into it. To ` +
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
