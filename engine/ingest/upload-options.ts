import { EngineError } from '../errors.ts'
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
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (!Object.hasOwn(OPTION_FORMATS, name)) {
      const known = Object.keys(OPTION_FORMATS).join(', ')
      throw new EngineError('invalid_option', `Unknown option ${JSON.stringify(name)}; known are ${known}.`)
    }
    const formats: readonly UploadFormat[] = OPTION_FORMATS[name as keyof UploadOptions]
    if (!formats.includes(format)) {
      throw new EngineError(
        'invalid_option',
        `${name} is for ${formats.join(' and ')}; the format is ${format}.`,
      )
    }
  }
}
