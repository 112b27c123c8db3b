import type { Series } from './connector.ts'
import { ConnectorError } from './errors.ts'

/** What a provider has frozen, moved or renamed, so that an id still works but is no longer what it was, or is gone. */
interface Notice {
  readonly provider: string
  /** The ids that it is about. */
  readonly ids: RegExp
  /** When the change took effect: a year, a month or a day. */
  readonly since: string
  /** A sentence for users; `$1` … are groups of `ids`. */
  readonly says: string
  /** Where the provider says so, or where it can be looked up. */
  readonly source: string
}

const NOTICES: readonly Notice[] = [
  {
    provider: 'eurostat',
    ids: /^(?:ESTAT,)?(PRC_HICP_(?:MIDX|MANR|MMOR|MV12R|AIND|AINR))(?:,[^/]*)?\//i,
    since: '2026-02',
    says:
      '$1 is in the old classification (ECOICOP) and ends with December 2025. From January 2026 the HICP is in ECOICOP ' +
      'version 2, with 2025 = 100, for example in PRC_HICP_MINR.',
    source: 'https://ec.europa.eu/eurostat/web/hicp/information-data',
  },
  {
    provider: 'worldbank',
    ids: /^[A-Za-z0-9]{2,3}\/((?:CC|GE|PV|RL|RQ|VA)\.[A-Z.]+)$/,
    since: '2025',
    says: 'The Worldwide Governance Indicators have new codes; $1 is now GOV_WGI_$1.',
    source: 'https://api.worldbank.org/v2/source/3/indicator?format=json',
  },
  {
    provider: 'imf',
    ids: /^(?:IMF(?:\.\w+)?,)?IFS(?:,[^/]*)?\//,
    since: '2025',
    says:
      'The International Financial Statistics are no longer one dataflow. Their series are in those of their subjects: ' +
      'exchange rates in ER and EER, interest rates in MFS_IR, money in MFS_MA, prices in CPI and PPI, production in PI, ' +
      'labour in LS, reserves in IL and IRFCL, trade in ITG, national accounts in QNEA and ANEA.',
    source: 'https://api.imf.org/external/sdmx/3.0/structure/dataflow/all/*/+',
  },
  {
    provider: 'frankfurter',
    ids: /^([A-Za-z]{3}\/[A-Za-z]{3})$/,
    since: '2026-04',
    says: 'Version 1 of Frankfurter has the rates of the ECB alone; version 2 has those of many central banks, as v2/$1.',
    source: 'https://github.com/lineofflight/frankfurter/blob/main/CHANGELOG.md',
  },
]

/** The notices about a series, as one text; null if there is none. */
function noticeAbout(provider: string, id: string): string | null {
  const found = NOTICES.filter((one) => one.provider === provider && one.ids.test(id))
  const sentences = found.map(({ ids, says }) =>
    says.replaceAll('$1', ids.exec(id)?.[1]?.toUpperCase() ?? ''),
  )
  return sentences.length === 0 ? null : sentences.join(' ')
}

/** The series with its notices at the beginning of its notes. */
export function noted<T extends Series & { readonly provider: string }>(series: T): T {
  const notice = noticeAbout(series.provider, series.series_id)
  return notice === null ? series : { ...series, notes: [notice, series.notes].filter(Boolean).join(' ') }
}

/** The error of a series that the provider does not have; if it has been moved or renamed, the message says so. */
export function notedError(error: unknown, provider: string, id: string): unknown {
  if (!(error instanceof ConnectorError) || error.code !== 'series_not_found') return error
  const notice = noticeAbout(provider, id)
  if (notice === null) return error
  const { code, message, cause } = error
  return new ConnectorError(code, `${message} ${notice}`, { provider, cause })
}
