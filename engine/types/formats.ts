/** The formats in which rows can be exported. */
export const FORMATS = ['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet', 'arrow'] as const
export type Format = (typeof FORMATS)[number]
