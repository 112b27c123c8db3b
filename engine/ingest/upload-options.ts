import { EngineError } from '../errors.ts'
import { READING } from '../options.ts'
import { checkOptions } from '../util/known-options.ts'
import type { UploadFormat, UploadOptions } from './request.ts'

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
  checkOptions(options, READING, format)
}
