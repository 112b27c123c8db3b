import { hint } from '../../engine/errors.ts'
import { counted } from '../../engine/util/counted.ts'
import { ServerError } from '../http/errors.ts'

/** Whether a refresh would leave none, or fewer than half, of what there was. */
export function isLoss(now: number, before: number): boolean {
  return now < before / 2
}

/**
 * The error for a refresh that `isLoss`.
 * @param one one of that of which there are fewer, such as a row
 * @param where where they are, such as ` in the file`
 */
export function lossOf(one: 'row' | 'value', where: string, now: number, before: number): ServerError {
  const found = now === 0 ? `no ${one}s` : `only ${counted(now, one)}`
  return new ServerError(
    'fewer_rows',
    `There ${now === 1 ? 'is' : 'are'} ${found}${where} where there ${before === 1 ? 'was' : 'were'} ${before}, ` +
      `so the earlier rows are kept. If this is right, set the source again with ${hint('confirm=true')}.`,
  )
}
