import { rm, stat } from 'node:fs/promises'
import { EngineError, hint } from '../errors.ts'
import { READING, toHttp } from '../options.ts'
import type { Choice, ColumnReading, IngestResult, ReadRequest, UploadOptions } from './request.ts'
import { keepingWords, withDetails } from './text/errors.ts'

/** How a file is read by `dialect=auto`. */
export interface Detected {
  /** The given options, and those that differ from the format's rules. */
  readonly options: UploadOptions
  /** By which values they were chosen. */
  readonly why: readonly Choice[]
  /** The columns by their positions in the file, where the values of a format can mean several things. */
  readonly columns: readonly ColumnReading[]
}

type Read = (request: ReadRequest) => Promise<IngestResult>

/**
 * Reads an upload with its options, or with those that `detect` finds if `dialect=auto` asks for them. Errors of other
 * uploads say so if that would have avoided them.
 */
export async function inDialect(
  request: ReadRequest,
  detect: () => Promise<Detected>,
  read: Read,
): Promise<IngestResult> {
  if (request.options?.dialect !== 'auto') {
    const { options = {} } = request
    return withWords(read(request), options).catch(async (error: unknown) => {
      throw await withAutoHint(error, request, detect, read)
    })
  }
  const detected = await detect()
  const { options, why } = detected
  try {
    return { ...(await withWords(readDetected(request, detected, read), options)), options, why }
  } catch (error) {
    throw error instanceof EngineError ? withDetails(error, { options, why }) : error
  }
}

/** What was read, whose suggestions keep the words of the options. */
async function withWords(read: Promise<IngestResult>, options: UploadOptions): Promise<IngestResult> {
  const { reasons, ...result } = await read
  return {
    ...result,
    ...(reasons && { reasons: reasons.map((reason) => reason && keepingWords(reason, options)) }),
  }
}

async function readDetected(request: ReadRequest, { options, columns }: Detected, read: Read) {
  const result = await read({ ...request, options, readings: columns })
  if ((request.existing ?? []).length > 0) return result
  const reasons = result.columns.map(({ type }, at) => {
    return (type === 'string' ? columns[at]?.because : undefined) ?? result.reasons?.[at]
  })
  return { ...result, reasons }
}

/** Files up to this size are read once more to see whether `dialect=auto` would have read them. */
const TRIED_BYTES = 16 * 1024 * 1024

/** The error, which says so if `dialect=auto` would have avoided it. */
async function withAutoHint(
  error: unknown,
  request: ReadRequest,
  detect: () => Promise<Detected>,
  read: Read,
): Promise<unknown> {
  const { file, options = {}, target, signal } = request
  const isOfFile = error instanceof EngineError && ['invalid_upload', 'column_conflict'].includes(error.code)
  if (!isOfFile || options.dialect || signal?.aborted || (await stat(file)).size > TRIED_BYTES) return error
  try {
    const detected = await detect()
    const added = toHttp(
      Object.fromEntries(Object.entries(detected.options).filter(([name]) => !(name in options))),
      READING,
    )
    if (Object.keys(added).length === 0) return error
    const further = String(new URLSearchParams(added as Record<string, string>)).replaceAll('+', '%20')
    await readDetected(request, detected, read)
    await rm(target)
    return withDetails(
      error,
      {},
      `${error.marked.message} ${hint('dialect=auto')} would read the file (${hint(further)}).`,
    )
  } catch {
    return error
  }
}
