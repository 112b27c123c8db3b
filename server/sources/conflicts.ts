import { ServerError } from '../http/errors.ts'

/** The error for rows that a client sends to a dataset that follows series: the next refresh would remove them. */
export function followsSeries(id: number): ServerError {
  return new ServerError(
    'follows_series',
    `Dataset ${id} follows series of providers, and what is written into it would be gone with the next refresh. DELETE /datasets/${id}/source ends that.`,
  )
}

/** The error for series that are to be written to a dataset with other data, which they would replace. */
export function holdsOtherData(name: string): ServerError {
  return new ServerError(
    'other_data',
    `The dataset ${JSON.stringify(name)} holds other data, and the series would take its place. Make a new dataset for them.`,
  )
}
