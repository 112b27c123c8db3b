import { type FileHandle, open } from 'node:fs/promises'
import { EngineError, hint } from '../../errors.ts'
import { filledColumns, readMetadata } from '../../types/file-metadata.ts'
import type { ColumnType } from '../../types/index.ts'
import type { ReadRequest } from '../request.ts'
import { type KnownColumns, layColumns } from '../targets.ts'
import { BadValue, floorDivide, momentOfOurYears } from '../text/bounds.ts'
import { badCell, malformed, outOfRange, quoteValue } from '../text/errors.ts'
import { type Rewritten, TypedRows } from '../text/rewritten.ts'
import { kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import {
  DAY_MICROS,
  dayText,
  doubleText,
  durationText,
  hoursText,
  timestampText,
} from '../text/value-text.ts'
import { writeRows } from '../text/write-rows.ts'
import { readCases, SYSTEM_MISSING } from './cases.ts'
import { damaged, decodeText, readDictionary, type SavDictionary, type Variable } from './dictionary.ts'

/** The print formats of times, by their numbers. Days are those in which the day, month, quarter or week is shown. */
const [TIME, DATETIME, DTIME, MTIME, YMDHMS] = [21, 22, 25, 40, 41]
const DAYS: readonly number[] = [20, 23, 24, 28, 29, 30, 38, 39]

/** Microseconds from 14 October 1582, from which SPSS counts its seconds, to 1970. */
const DAY = BigInt(DAY_MICROS)
const EPOCH = -141_428n * DAY

/**
 * Rewrites an SPSS file as csv. Labels of variables are titles of columns; with `labels`, those of values take the place
 * of the values. Values that the file defines as missing are null.
 * @param target where the csv is to be written
 * @throws EngineError `invalid_upload`, `column_conflict`, `upload_too_large`, `storage_full`
 */
export async function toCsv(request: ReadRequest, target: string, known: KnownColumns): Promise<Rewritten> {
  await using handle = await open(request.file)
  try {
    return await rewrite(request, target, known, handle)
  } catch (error) {
    const { code } = error as { code?: string }
    const isOfFile = error instanceof RangeError || error instanceof TypeError || code?.startsWith('Z_')
    throw isOfFile && !(error instanceof EngineError) ? damaged() : error
  }
}

async function rewrite(request: ReadRequest, target: string, known: KnownColumns, handle: FileHandle) {
  const dictionary = await readDictionary(handle)
  const { variables, title, count } = dictionary
  const names = variables.map(({ name }) => name)
  const titles = variables.map(({ name, label }) => [name, new Map([['title', label]])] as const)
  const metadata = readMetadata(new Map([['title', title]]), new Map(titles))
  const targets = filledColumns(layColumns(known, names), metadata)
  const rows = new TypedRows(targets, request.options)
  const writers = variables.map((variable) =>
    writerOf(variable, dictionary, rows, request.options?.labels === true),
  )
  const cases = readCases(handle, dictionary, request.limits.unpackedBytes)
  const write = (one: Buffer) => {
    for (const writer of writers) writer(one)
    rows.endRow()
  }
  await writeRows(request, target, rows, cases, write, count)
  if (count !== undefined && rows.rows < count) throw damaged()
  const result = rows.result(target)
  const isEmpty = result.source.nulls.map((nulls) => nulls === rows.rows)
  return {
    ...result,
    targets: result.targets.map((one, at) => {
      const { width, format } = variables[one.source ?? 0]!
      const isOpen = one.source !== undefined && targets[at]!.type === undefined && isEmpty[one.source]
      return isOpen && width === 0 ? { ...one, type: typeOf(format) } : one
    }),
    metadata: metadata.dataset,
  }
}

/** The type of numbers of which there are none. */
function typeOf(format: number): ColumnType {
  if (format === DTIME) return 'string'
  if (format === TIME || format === MTIME) return 'time'
  if (format === DATETIME || format === YMDHMS) return 'timestamp'
  return DAYS.includes(format) ? 'date' : 'double'
}

type Writer = (one: Buffer) => void

function writerOf(
  variable: Variable,
  dictionary: SavDictionary,
  rows: TypedRows,
  hasLabels: boolean,
): Writer {
  return (variable.width > 0 ? textWriter : numberWriter)(variable, dictionary, rows, hasLabels)
}

function textWriter(
  { name, width, pieces, missing, labels }: Variable,
  { decoder }: SavDictionary,
  rows: TypedRows,
  hasLabels: boolean,
): Writer {
  const key = (value: Buffer) => withoutBlanks(value.subarray(0, width)).toString('latin1')
  const isMissing = new Set(missing.values.map(key))
  const byValue = new Map(
    hasLabels ? labels.map(([value, label]) => [key(value), labelText(label, decoder, name)]) : [],
  )
  return (one) => {
    const all = pieces.map(({ from, bytes }) => one.subarray(from, from + bytes))
    const bytes = withoutBlanks(all.length === 1 ? all[0]! : Buffer.concat(all))
    if (isMissing.size + byValue.size > 0) {
      const value = key(bytes)
      if (isMissing.has(value)) return rows.null()
      const label = byValue.get(value)
      if (label !== undefined) return rows.value(label, kindOf(label), true)
    }
    let text: string
    try {
      text = decodeText(decoder, bytes)
    } catch {
      throw badCell(rows.rows + 1, name, `the text is not valid ${decoder.encoding}.`)
    }
    rows.value(text, kindOf(text), true)
  }
}

/** Texts are filled up with blanks. */
function withoutBlanks(bytes: Buffer): Buffer {
  let end = bytes.length
  while (bytes[end - 1] === 0x20) end--
  return bytes.subarray(0, end)
}

function numberWriter(
  { name, pieces, missing, labels, format, decimals }: Variable,
  { decoder }: SavDictionary,
  rows: TypedRows,
  hasLabels: boolean,
): Writer {
  const isMissing = new Set([SYSTEM_MISSING, ...missing.values.map((value) => value.readDoubleLE())])
  const [low, high] = missing.range?.map((value) => value.readDoubleLE()) ?? [Infinity, -Infinity]
  const byValue = new Map(
    hasLabels ? labels.map(([value, label]) => [value.readDoubleLE(), labelText(label, decoder, name)]) : [],
  )
  const write = timeWriter(name, format, rows) ?? ((value: number) => writeNumber(value, decimals, rows))
  const { from } = pieces[0]!
  return (one) => {
    const value = one.readDoubleLE(from)
    if (isMissing.has(value) || (value >= low! && value <= high!)) return rows.null()
    const label = byValue.get(value)
    if (label === undefined) write(value)
    else rows.value(label, kindOf(label), true)
  }
}

/** A number that is shown with decimal places is a double even if it is whole. */
function writeNumber(value: number, decimals: number, rows: TypedRows): void {
  const isWhole = decimals === 0 && Number.isSafeInteger(value)
  if (isWhole) rows.value(value.toFixed(0), TEXT_KIND.integer, false)
  else rows.value(doubleText(value), Number.isFinite(value) ? TEXT_KIND.fraction : TEXT_KIND.special, false)
}

/** Writes the numbers of a variable that is shown as a time: seconds, of a day or since 1582. */
function timeWriter(name: string, format: number, rows: TypedRows): ((seconds: number) => void) | undefined {
  const text = timeText(format)
  if (!text) return undefined
  return (seconds) => {
    try {
      const written = text(BigInt(Math.round(seconds * 1e6)))
      rows.value(written, kindOf(written), false)
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof BadValue)) throw error
      throw outOfRange(rows.rows + 1, name, typeOf(format))
    }
  }
}

/** @throws BadValue, or RangeError for what is no number */
function timeText(format: number): ((micros: bigint) => string) | undefined {
  if (format === DTIME) return durationText
  if (format === TIME || format === MTIME) return hoursText
  const isDay = DAYS.includes(format)
  if (!isDay && format !== DATETIME && format !== YMDHMS) return undefined
  return (since) => {
    const micros = momentOfOurYears(since + EPOCH)
    const days = floorDivide(micros, DAY)
    return isDay && days * DAY === micros ? dayText(Number(days)) : timestampText(micros, false)
  }
}

function labelText(label: Buffer, decoder: TextDecoder, name: string): string {
  try {
    return decodeText(decoder, label).trimEnd()
  } catch {
    throw malformed(
      `A label of ${quoteValue(name)} is not valid ${decoder.encoding}. Leave ${hint('labels=true')} out.`,
    )
  }
}
