/*
 * Addresses as they are sent, and the links among them, which work without a key.
 */

/** Compared without regard to case, because some clients write all parameters in lower case. */
export const isApiKey = (name: string): boolean => name.toLowerCase() === 'apikey'

/** Matches the ticket of a link that we made. It is always the last parameter. */
const TICKET = /(?:^|&)ticket=[^&]*$/

/** Added to a link to download its data in a browser, which shows a page otherwise. */
const DOWNLOAD = 'download=true'

/** Whether an address has a ticket, as our links have, which work without a key. */
export function isLink(url: string): boolean {
  return TICKET.test(rawQuery(asSigned(url)))
}

/** Whether a link is to give its data to everybody. */
export function isDownload(url: string): boolean {
  return rawQuery(url).split('&').includes(DOWNLOAD)
}

/** The address of a link as it was signed: without an `apiKey` that a client has added, and without `download`. */
export function asSigned(url: string): string {
  const query = rawQuery(url)
  const others = query.split('&').filter((part) => !isApiKey(part.split('=', 1)[0]!) && part !== DOWNLOAD)
  const path = url.slice(0, url.length - query.length)
  return others.length > 0 ? path + others.join('&') : path.replace(/\?$/, '')
}

/** The query string of a request's URL, without the question mark. */
export function rawQuery(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

/** The query of a link without its ticket and what was added to it; any other as it is. */
export function withoutTicket(query: string): string {
  return isLink(`?${query}`) ? rawQuery(asSigned(`?${query}`)).replace(TICKET, '') : query
}
