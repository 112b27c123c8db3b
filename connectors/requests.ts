import { ConnectorError } from './errors.ts'

const LONGEST_ID = 2000
const LARGEST_PAGE = 1000

/** @throws ConnectorError `invalid_option` */
export function checkedPage({ limit, offset }: { limit: number; offset: number }) {
  if (!Number.isInteger(limit) || limit < 0 || limit > LARGEST_PAGE) {
    throw new ConnectorError('invalid_option', `limit must be a whole number from 0 to ${LARGEST_PAGE}.`)
  }
  if (!Number.isSafeInteger(offset) || offset < 0) {
    throw new ConnectorError('invalid_option', 'offset must be a whole number of 0 or more.')
  }
  return { limit, offset }
}

/** Removes slashes at both ends, which mean nothing. @throws ConnectorError `invalid_series_id` */
export function checkedPath(path: string): string {
  checkLength(path)
  return path.replace(/^\/+|\/+$/g, '')
}

/** @throws ConnectorError `invalid_series_id` */
export function checkLength(text: string): void {
  if (text.length > LONGEST_ID) {
    throw new ConnectorError('invalid_series_id', `An id of more than ${LONGEST_ID} characters is too long.`)
  }
}

/**
 * Whether an id may stand for several series: it contains a wildcard or `+` (a space in a query string), or leaves a
 * part empty.
 */
export function hasWildcards(id: string): boolean {
  return /[*+ ]/.test(id) || /[./]\.|[./]$|\.\./.test(id)
}
