import type { Format } from '../../engine/index.ts'

interface FormatFacts {
  readonly contentType: string
  readonly extension: string
  /** Whether compressing it is worth while. */
  readonly compressible: boolean
  /** Whether the same question to the same version gives the same bytes. */
  readonly exact: boolean
}

/** How each format travels. */
export const FORMAT_FACTS: Readonly<Record<Format, FormatFacts>> = {
  csv: { contentType: 'text/csv; charset=utf-8', extension: 'csv', compressible: true, exact: true },
  tsv: {
    contentType: 'text/tab-separated-values; charset=utf-8',
    extension: 'tsv',
    compressible: true,
    exact: true,
  },
  json: {
    contentType: 'application/json; charset=utf-8',
    extension: 'json',
    compressible: true,
    exact: true,
  },
  ndjson: { contentType: 'application/x-ndjson', extension: 'ndjson', compressible: true, exact: true },
  xlsx: {
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    extension: 'xlsx',
    compressible: false,
    exact: false,
  },
  parquet: {
    contentType: 'application/vnd.apache.parquet',
    extension: 'parquet',
    compressible: false,
    exact: false,
  },
  arrow: {
    contentType: 'application/vnd.apache.arrow.stream',
    extension: 'arrow',
    compressible: true,
    exact: false,
  },
}
