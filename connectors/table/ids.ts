import { ConnectorError, quoted } from '../errors.ts'

/** One of several series that are asked for together; `id` may have wildcards. */
export interface WantedSeries {
  readonly provider: string
  readonly id: string
}

/**
 * `GDP,UNRATE`, for one provider. SDMX ids hold commas of their own, always before their one slash
 * (`OECD.SDD,DSD_X@DF_Y,/USA.M`): with `slashed`, what has no slash yet goes on behind the comma. A comma that is part
 * of an id can be written `%2C`.
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

/** `fred/GDP,ecb/EXR/M.USD.EUR.SP00.A`: a part that begins with no provider belongs to the id before it. */
export function splitQualified(text: string, isProvider: (slug: string) => boolean): readonly WantedSeries[] {
  const ids: string[] = []
  for (const part of text.split(',')) {
    const [slug = '', ...rest] = part.trimStart().split('/')
    if (rest.length > 0 && isProvider(slug)) ids.push(part.trimStart())
    else if (ids.length > 0) ids.push(`${ids.pop()!},${part}`)
    else if (part.trim() !== '') {
      const sentence = `${quoted(part)} is no provider and series, as fred/GDP.`
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
