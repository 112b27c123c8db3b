import type { Upload, UploadOptions } from '../../engine/index.ts'
import { ServerError } from '../http/errors.ts'
import { parameters } from '../http/query.ts'

const text = (description: string) => ({ type: 'string', description }) as const
const oneOf = <const Values extends readonly string[]>(values: Values, description: string) =>
  ({ type: 'string', enum: values, description }) as const

const OPTIONS = {
  nulls: text('csv, tsv: unquoted text that means a missing value, separated by commas: `NA,NULL,-`.'),
  delimiter: text('csv, tsv: the character between fields, or `tab`.'),
  decimal: oneOf(['.', ','], 'csv, tsv: the decimal separator of numbers.'),
  encoding: oneOf(['utf-8', 'latin1', 'utf-16'], 'csv, tsv: UTF-8 by default; `latin1` is windows-1252.'),
  header: oneOf(['present', 'absent'], 'csv, tsv: whether the first record names the columns.'),
  names: oneOf(
    ['index'],
    'csv, tsv: a first column without a name, which R and pandas write, is called `index`.',
  ),
  dates: text('csv, tsv: how days are written: `DD.MM.YYYY`, `M/D/YYYY`; a time of day may follow.'),
  nanoseconds: oneOf(
    ['truncate'],
    'Parquet, Arrow: cuts times off at the microsecond; without it, finer times are refused.',
  ),
  sheet: text('xlsx: the name of the sheet to read; the first one by default.'),
} as const

/** The parameters of a request that appends rows, which say how its file is to be read. */
export const APPEND_PARAMETERS = parameters(OPTIONS)

/** The options of an upload that replaces the rows. */
export const REPLACE_OPTIONS = {
  ...OPTIONS,
  columns: oneOf(['replace'], 'every format: the columns of the upload replace those of the dataset.'),
} as const

/** The parameters of a request that replaces the rows. */
export const REPLACE_PARAMETERS = parameters(REPLACE_OPTIONS)

/** The options as texts, as they are written in a query string. */
export type GivenOptions = { readonly [Name in keyof typeof REPLACE_OPTIONS]?: string }

/** The options of an upload. @throws ServerError `invalid_query` */
export function uploadOptions(query: object): Pick<Upload, 'options' | 'replaceColumns'> {
  const { columns, nulls, delimiter, ...rest } = query as GivenOptions
  const options = Object.fromEntries(
    Object.entries(rest).filter(([name]) => name in OPTIONS),
  ) as UploadOptions
  const parted = delimiter === 'tab' ? '\t' : delimiter
  if (parted !== undefined && (parted.length !== 1 || /["\r\n]/.test(parted))) {
    throw new ServerError(
      'invalid_query',
      'delimiter must be one character, neither a quote nor a line end, or tab.',
    )
  }
  const all: UploadOptions = {
    ...options,
    ...(nulls !== undefined && { nulls: nulls.split(',') }),
    ...(parted !== undefined && { delimiter: parted }),
  }
  return {
    ...(Object.keys(all).length > 0 && { options: all }),
    ...(columns === 'replace' && { replaceColumns: true }),
  }
}
