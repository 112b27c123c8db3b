import { ServerError } from '../http/errors.ts'

/** Refuses rows of a client's for a dataset whose next refresh would remove them. */
export function followsSeries(id: number): ServerError {
  return new ServerError(
    'follows_series',
    `Dataset ${id} follows series of providers, and what is written into it would be gone with the next refresh. DELETE /datasets/${id}/source ends that.`,
  )
}

/** Refuses series for a dataset of something else, which they would take the place of. */
export function holdsOtherData(name: string): ServerError {
  return new ServerError(
    'other_data',
    `The dataset ${JSON.stringify(name)} holds other data, and the series would take its place. Make a new dataset for them.`,
  )
}
