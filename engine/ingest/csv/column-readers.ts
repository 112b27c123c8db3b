import type { ColumnReading, UploadOptions } from '../request.ts'
import type { Target } from '../targets.ts'
import { type FieldReader, fieldReader } from './syntax.ts'

/** How the values of a column are read whose type is to be inferred: by what `dialect=auto` has found in it. */
export function columnReader(
  readings: readonly ColumnReading[],
  at: number,
  reader: FieldReader,
  options: UploadOptions,
): FieldReader {
  const reading = readings[at]
  // What has other values than the sample needs other evidence.
  if (reading?.is === 'open') {
    const isPointed = (text: string) => reader.isPointed(text) || reader.value(text, false) !== undefined
    return { ...reader, isPointed, value: () => undefined }
  }
  if (!reading || !readings.some(({ options }) => options.symbols)) return reader
  const { symbols = [] } = reading.options
  const own = fieldReader({ ...options, symbols })
  const symbol = symbols.find((one) => one.trim() !== '' && one !== '+')
  if (symbol === undefined) return own
  return {
    ...own,
    kinds: ~0,
    isPointed: (text) => !text.includes(symbol) || own.isPointed(text),
    value: (text, onlyNumbers) => (text.includes(symbol) ? own.value(text, onlyNumbers) : undefined),
  }
}

/** The targets, of which those are text that are ambiguous. */
export function withTexts(
  targets: readonly Target[],
  readings: readonly ColumnReading[] = [],
): readonly Target[] {
  return targets.map((target) => {
    const isText = target.type === undefined && readings[target.source ?? -1]?.is === 'ambiguous'
    return isText ? { ...target, type: 'string' } : target
  })
}

/** The targets, of which those are text whose fields are `open`. */
export function asText(targets: readonly Target[], open: ReadonlyMap<number, unknown>): readonly Target[] {
  return targets.map((target) => (open.has(target.source ?? -1) ? { ...target, type: 'string' } : target))
}

/** A reader of values as their column itself shows; undefined if the file is read in this way. */
export function ownReader(
  readings: readonly ColumnReading[],
  at: number,
  options: UploadOptions,
): FieldReader | undefined {
  const reading = readings[at]
  if (!reading?.withMore || reading.is === 'open') return undefined
  const own = reading.withMore([]).options
  const isOwn = (['decimal', 'thousands', 'dates', 'booleans'] as const).every((name) => {
    return options[name] === undefined || own[name] !== undefined
  })
  return isOwn ? undefined : columnReader(readings, at, fieldReader(own), own)
}
