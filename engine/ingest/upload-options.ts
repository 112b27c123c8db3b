import { EngineError } from '../errors.ts'
import { requireKnown } from '../util/known-options.ts'
import type { UploadFormat, UploadOptions } from './request.ts'

const TEXT = ['csv', 'tsv'] as const

/** The formats that each option is for. */
const OPTION_FORMATS = {
  nulls: TEXT,
  delimiter: TEXT,
  decimal: TEXT,
  encoding: TEXT,
  header: TEXT,
  names: TEXT,
  dates: TEXT,
  nanoseconds: ['parquet', 'arrow'],
  sheet: ['xlsx'],
} as const satisfies Record<keyof UploadOptions, readonly UploadFormat[]>

type Check = readonly [isRight: (value: unknown) => boolean, what: string]

const isText = (value: unknown): value is string => typeof value === 'string'
const oneOf = (...values: readonly string[]): Check => [
  (value) => isText(value) && values.includes(value),
  values.map((one) => JSON.stringify(one)).join(' or '),
]

/** What the value of each option must be. */
const VALUES: Readonly<Record<keyof UploadOptions, Check>> = {
  nulls: [(value) => Array.isArray(value) && value.every(isText), 'a list of texts'],
  delimiter: [
    (value) => isText(value) && value.length === 1 && !/["\r\n]/.test(value),
    'one character, neither a quote nor a line end',
  ],
  decimal: oneOf('.', ','),
  encoding: oneOf('utf-8', 'latin1', 'utf-16'),
  header: oneOf('present', 'absent'),
  names: oneOf('index'),
  dates: [isText, 'a pattern such as "DD.MM.YYYY"'],
  nanoseconds: oneOf('truncate'),
  sheet: [isText, 'the name of a sheet'],
}

const FORMATS = ['csv', 'tsv', 'json', 'ndjson', 'parquet', 'arrow', 'xlsx'] as const satisfies UploadFormat[]

/**
 * @throws EngineError `unsupported_format`; `invalid_option` where an option is unknown or has no meaning in the format
 */
export function checkUploadOptions(format: UploadFormat, options: UploadOptions = {}): void {
  if (!FORMATS.includes(format)) {
    throw new EngineError(
      'unsupported_format',
      `Uploads have no format ${JSON.stringify(format)}; known are ${FORMATS.join(', ')}.`,
    )
  }
  requireKnown(options, OPTION_FORMATS)
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    const formats: readonly UploadFormat[] = OPTION_FORMATS[name as keyof UploadOptions]
    if (!formats.includes(format)) {
      throw new EngineError(
        'invalid_option',
        `${name} is for ${formats.join(' and ')}; the format is ${format}.`,
      )
    }
    const [isRight, what] = VALUES[name as keyof UploadOptions]
    if (!isRight(value)) {
      throw new EngineError('invalid_option', `${name} is ${what}, not ${JSON.stringify(value)}.`)
    }
  }
}
