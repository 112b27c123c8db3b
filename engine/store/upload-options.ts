import type { DatasetRecord } from '../catalog/records.ts'
import { EngineError, hint } from '../errors.ts'
import { holdsFor, type IngestResult, type UploadFormat, type UploadOptions } from '../ingest/request.ts'
import { withDetails } from '../ingest/text/errors.ts'
import { fromHttp, optionTexts, READING } from '../options.ts'
import type { Upload } from './upload.ts'

type StoredOptions = NonNullable<DatasetRecord['uploadOptions']>

/** How a dataset's last upload was read, as far as it holds for one of a format. @param isRead whether the file has it */
export function storedFor(format: UploadFormat, stored: StoredOptions, isRead = true): UploadOptions {
  const known = Object.entries(fromHttp(stored, READING))
  return Object.fromEntries(known.filter(([name]) => holdsFor(format, name, isRead)))
}

/**
 * The options with which an upload is read: each that it does not name is that of the last upload. Not where it says how
 * all are to be found (`dialect`), or brings its own columns.
 */
export function withStored(
  stored: StoredOptions = {},
  upload: Pick<Upload, 'format' | 'options' | 'replaceColumns'>,
): UploadOptions | undefined {
  const { format, options, replaceColumns } = upload
  if (replaceColumns || options?.dialect !== undefined) return options
  const { decimal, thousands, ...others } = storedFor(format, stored, false)
  const known = {
    ...others,
    // A character that the upload names for the one is not kept for the other.
    ...(decimal !== undefined && decimal !== options?.thousands && { decimal }),
    ...(thousands !== undefined && thousands !== options?.decimal && { thousands }),
  }
  return Object.keys(known).length > 0 ? { ...known, ...options } : options
}

/** What an answer says of the options with which an upload was read; undefined if they are those that it names. */
export function usedOptions(
  upload: Pick<Upload, 'format' | 'options'>,
  options: UploadOptions | undefined,
  { options: chosen, format = upload.format }: Pick<IngestResult, 'options' | 'format'>,
): UploadOptions | undefined {
  if (chosen || options === upload.options) return chosen
  const isUsed = (name: string) => holdsFor(format, name, true) || name in (upload.options ?? {})
  return Object.fromEntries(Object.entries(options ?? {}).filter(([name]) => isUsed(name)))
}

/**
 * The options that `dialect: 'auto'` has chosen, for later files of the same kind. What these have besides needs evidence
 * of its own, as a first `2.000` in a column of whole numbers does. What is above and below the table is looked for in each
 * file, unless it was asked for: the first and last lines of the next one may be a header and rows, which would be lost.
 */
export function pinnedOptions(chosen: UploadOptions, { skip, footer }: UploadOptions): UploadOptions {
  const { skip: _skip, footer: _footer, ...others } = chosen
  return {
    ...others,
    ...(skip !== undefined && { skip }),
    ...(footer !== undefined && { footer }),
    dialect: 'auto',
  }
}

/**
 * What is kept after an upload: with all options that were chosen for it, no later one is read in another way.
 * @param chosen those of `dialect: 'auto'`
 */
export function storedAfter(
  stored: StoredOptions = {},
  format: UploadFormat,
  options: UploadOptions = {},
  chosen?: UploadOptions,
): StoredOptions {
  const others = Object.entries(stored).filter(([name]) => !holdsFor(format, name, true))
  const { dialect, ...given } = options
  const read = chosen ? pinnedOptions(chosen, options) : dialect === 'standard' ? options : given
  return { ...Object.fromEntries(others), ...optionTexts(read, READING) }
}

const OF_FILES: readonly string[] = ['invalid_upload', 'column_conflict', 'missing_columns']

/** What reading an upload with options of the last one gives; its errors say so. */
export async function readAsBefore<T>(
  upload: Upload,
  options: UploadOptions | undefined,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read()
  } catch (error) {
    const isOfFile = error instanceof EngineError && OF_FILES.includes(error.code)
    const { dialect: _, ...pinned } = options ?? {}
    const texts = optionTexts(pinned, READING)
    if (!isOfFile || options === upload.options || Object.keys(texts).length === 0) throw error
    const reading = `The file was read as the last upload was, with ${hint(String(new URLSearchParams(texts)))}; name other options, or ${hint('dialect=auto')} or ${hint('dialect=standard')}.`
    throw withDetails(error, { options }, `${error.marked.message} ${reading}`)
  }
}
