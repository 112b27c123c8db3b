import { isDate } from '../../connectors/periods.ts'
import { ServerError } from '../http/errors.ts'
import type { Interval } from './schedule.ts'

/** What a dataset is to follow, as a client asks for it. */
export interface Wanted {
  readonly series: readonly string[]
  readonly start?: string | null
  readonly every?: Interval
}

/**
 * Checks a request and fills in defaults; each id appears once, with its provider in lower case.
 * @throws ServerError `invalid_body`
 */
export function checkedWanted(
  { series, start = null, every = 'day' }: Wanted,
  known: { readonly slugs: readonly string[]; readonly most: number },
): Required<Wanted> & { readonly start: string | null } {
  if (start !== null && !isDate(start)) {
    throw invalid(`start must be a date like 2024-01-31; it is ${JSON.stringify(start.slice(0, 40))}.`)
  }
  const ids = [...new Set(series.map((text) => qualifiedId(text, known.slugs)))]
  if (ids.length > known.most) {
    throw invalid(`series has ${ids.length} ids; a dataset follows at most ${known.most}.`)
  }
  return { series: ids, start, every }
}

/** The providers of ids. */
export function providersOf(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.map((id) => id.slice(0, id.indexOf('/'))))]
}

function qualifiedId(text: string, slugs: readonly string[]): string {
  const slash = text.indexOf('/')
  const slug = text.slice(0, Math.max(0, slash)).trim().toLowerCase()
  const id = text.slice(slash + 1).trim()
  const isId = id !== '' && id.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(id)
  if (slugs.includes(slug) && isId) return `${slug}/${id}`
  throw invalid(`${JSON.stringify(text.slice(0, 120))} must be a provider and a series, like fred/GDP.`)
}

function invalid(message: string): ServerError {
  return new ServerError('invalid_body', message)
}
