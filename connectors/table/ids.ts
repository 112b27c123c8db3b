import type { WantedSeries } from '../calls.ts'
import { ConnectorError, quoted } from '../errors.ts'

/**
 * Splits a list such as `GDP,UNRATE`, for one provider. SDMX ids contain commas of their own, always before their only
 * slash (`OECD.SDD,DSD_X@DF_Y,/USA.M`): with `slashed`, a part without a slash continues after the comma. A comma that
 * belongs to an id can be written `%2C`.
 */
export function splitIds(text: string, slashed: boolean): readonly string[] {
  const ids: string[] = []
  let open = ''
  for (const part of text.split(',')) {
    open += part
    if (slashed && !open.includes('/')) {
      open += ','
      continue
    }
    ids.push(open)
    open = ''
  }
  if (open !== '') ids.push(open.replace(/,$/, ''))
  return [...new Set(ids.map(unescaped).filter((id) => id !== ''))]
}

/**
 * Splits a list such as `fred/GDP,ecb/EXR/M.USD.EUR.SP00.A`. A part that doesn't begin with a provider belongs to the
 * id before it.
 */
export function splitQualified(text: string, isProvider: (slug: string) => boolean): readonly WantedSeries[] {
  const ids: string[] = []
  for (const part of text.split(',')) {
    const [slug = '', ...rest] = part.trimStart().split('/')
    if (rest.length > 0 && isProvider(slug)) ids.push(part.trimStart())
    else if (ids.length > 0) ids.push(`${ids.pop()!},${part}`)
    else if (part.trim() !== '') {
      const sentence = `${quoted(part)} must be a provider and a series, like fred/GDP.`
      throw new ConnectorError('invalid_series_id', sentence)
    }
  }
  return [...new Set(ids.map(unescaped))].map((id) => {
    const slash = id.indexOf('/')
    return { provider: id.slice(0, slash).toLowerCase(), id: id.slice(slash + 1) }
  })
}

function unescaped(id: string): string {
  return id.trim().replace(/%2c/gi, ',')
}
