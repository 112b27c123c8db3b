import { ConnectorError } from '../../connectors/errors.ts'
import type { Connectors } from '../../connectors/index.ts'
import { isDate } from '../../connectors/periods.ts'
import { type DatasetRecord, noStoredRows } from '../../engine/index.ts'
import { ADDING, UPLOADING } from '../../engine/options.ts'
import type { Config } from '../config/schema.ts'
import { ServerError } from '../http/errors.ts'
import type { NewSource } from '../records/index.ts'
import { checkedAddress, FetchFailure, type FollowedAddress } from './fetch-address.ts'
import { requireSeriesAlone } from './series-rows.ts'
import type { SourceRequest, StoredSource } from './sources.ts'

/**
 * Checks what a dataset is to follow and fills in defaults; each id appears once, with its provider in lower case.
 * @param before what it follows now
 * @throws ServerError `invalid_body`, `other_data`; EngineError `saved_query`
 */
export async function checkedSource(
  record: DatasetRecord,
  body: NewSource,
  { sources, limits }: Pick<Config, 'sources' | 'limits'>,
  connectors: () => Promise<Pick<Connectors, 'list' | 'requireReleases'>>,
  before?: StoredSource,
): Promise<Omit<SourceRequest, 'datasetId' | 'accountId'> & { readonly address: FollowedAddress | null }> {
  if (record.query) throw noStoredRows(record.id)
  const { every = 'day', start = null } = body
  const address = withKeptOptions(checkedFile(body, sources), before?.address)
  if (address) {
    requireKey(record, address)
    if (every === 'release') throw invalid('every: release is for series; files have no calendar.')
    return { series: [], start: null, every, address }
  }
  const providers = await connectors()
  const slugs = providers.list().map(({ slug }) => slug)
  const series = checkedSeries(body, { slugs, most: limits.savedSeries })
  if (every === 'release') requireReleases(series, providers)
  requireSeriesAlone(record)
  return { series, start, every, address: null }
}

/** @throws ServerError `invalid_body` for an upsert that could find no rows */
function requireKey({ key = [] }: DatasetRecord, { mode, options }: FollowedAddress): void {
  if (mode !== 'upsert' || options['on'] !== undefined || key.length > 0) return
  throw invalid(
    'The dataset has no key, so options must name the columns by which an upsert finds rows, as {"on": "date,series"}.',
  )
}

/** @throws ServerError `invalid_body` for a provider that does not announce when a series changes */
function requireReleases(series: readonly string[], providers: Pick<Connectors, 'requireReleases'>): void {
  try {
    for (const slug of providersOf(series)) providers.requireReleases(slug)
  } catch (error) {
    throw error instanceof ConnectorError
      ? invalid(`every can't be release: ${error.message} Use every: day.`)
      : error
  }
}

function checkedSeries(
  { series = [], start = null }: NewSource,
  known: { readonly slugs: readonly string[]; readonly most: number },
): readonly string[] {
  if (start !== null && !isDate(start)) {
    throw invalid(`start must be a date like 2024-01-31; it is ${JSON.stringify(start.slice(0, 40))}.`)
  }
  const ids = [...new Set(series.map((text) => qualifiedId(text, known.slugs)))]
  if (ids.length > known.most) {
    throw invalid(`series has ${ids.length} ids; a dataset follows at most ${known.most}.`)
  }
  return ids
}

/** Checks the file that a request wants to follow; undefined if it wants series. */
function checkedFile(
  { url, mode = 'replace', options = {}, series, start }: NewSource,
  hosts: Config['sources'],
): FollowedAddress | undefined {
  if (url === undefined) {
    if (series === undefined || mode !== 'replace' || Object.keys(options).length > 0) {
      throw invalid('A source has series, or a url with mode and options.')
    }
    return undefined
  }
  if (series !== undefined || start !== undefined) throw invalid('A source has series or a url, not both.')
  const known = fileOptions(mode)
  const unknown = Object.keys(options).filter(
    (name) => !Object.values(known).some(({ http }) => http === name),
  )
  if (unknown.length > 0)
    throw invalid(`options has ${unknown.join(', ')}, which is no option of an upload with mode ${mode}.`)
  try {
    const texts = Object.entries(options).map(([name, value]) => [name, String(value)])
    return { url: checkedAddress(url, hosts).href, mode, options: Object.fromEntries(texts) }
  } catch (error) {
    throw error instanceof FetchFailure ? invalid(error.message) : error
  }
}

/** The address with the options that it had, unless `dialect` says how to choose them anew. */
function withKeptOptions(
  address: FollowedAddress | undefined,
  before: StoredSource['address'] | undefined,
): FollowedAddress | undefined {
  if (!address || !before || !('url' in before) || address.options['dialect'] !== undefined) return address
  if (before.url !== address.url || before.mode !== address.mode) return address
  return { ...address, options: { ...before.options, ...address.options } }
}

/** The options with which a file may be followed. */
export function fileOptions(mode: FollowedAddress['mode']) {
  return mode === 'upsert' ? { ...UPLOADING, on: ADDING.on } : UPLOADING
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
  throw invalid(
    `${JSON.stringify(text.slice(0, 120))} must be a provider and a series, like fred/GDP. The address of a file is \`url\` in PUT /datasets/{id}/source.`,
  )
}

function invalid(message: string): ServerError {
  return new ServerError('invalid_body', message)
}
