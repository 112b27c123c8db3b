import type { EncodeOptions } from '../../engine/index.ts'
import { DIALECT, type OptionsOf, OTHER_FORMATS, pick, type WRITING } from '../../engine/options.ts'

/** The options for writing a file as the engine takes them. */
export function encodingOf(given: OptionsOf<typeof WRITING>): EncodeOptions {
  const dialect = pick(given, DIALECT)
  return { ...(Object.keys(dialect).length > 0 && { dialect }), ...pick(given, OTHER_FORMATS) }
}
