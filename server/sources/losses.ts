import { ServerError } from '../http/errors.ts'

/** Whether a refresh would leave none, or fewer than half, of what there was. */
export function isLoss(now: number, before: number): boolean {
  return now < before / 2
}

/** The error for a refresh that `isLoss`; `what` is that of which there are fewer, such as `rows in the file`. */
export function lossOf(what: string, now: number, before: number): ServerError {
  return new ServerError(
    'fewer_rows',
    `There are ${now === 0 ? 'no' : `only ${now}`} ${what} where there were ${before}, so the earlier rows are kept. ` +
      'If this is right, set the source again with confirm.',
  )
}
