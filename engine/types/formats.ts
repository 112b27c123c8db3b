/** The formats that rows leave in. */
export const FORMATS = ['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet', 'arrow'] as const
export type Format = (typeof FORMATS)[number]
