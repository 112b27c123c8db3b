import type { Choice, ColumnReading, Sampled, UploadOptions } from '../request.ts'
import { inferType, kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import { numbersIn } from './numbers.ts'
import { isCode } from './open.ts'
import { type ColumnSample, type FileFacts, VALUE_RULES } from './rules.ts'
import { LOOKED_AT, textReason } from './suggestions.ts'
import { fieldReader } from './syntax.ts'
import type { Field } from './tokenizer.ts'
import { isUsualNull } from './words.ts'

/** A record of a sample, with the number of its row: from 1, without the header. */
export interface SampledRow {
  readonly row: number
  readonly fields: readonly Field[]
}

/** What is declared of a column before the file is looked at. */
export type Declared = 'text' | 'number' | 'other' | undefined

const TEXT: ColumnReading = { is: 'text', options: {}, why: [] }

/** Reads columns of a sample by the rules: each for itself, and then all as one file, which has one style of numbers. */
export function readColumns(
  rows: readonly SampledRow[],
  width: number,
  file: FileFacts,
  declared: readonly Declared[] = [],
): readonly ColumnReading[] {
  const samples = Array.from({ length: width }, (_, at) => {
    return declared[at] === 'text' ? undefined : sampleOf(rows, at, file, declared[at] === 'number')
  })
  const first = samples.map((sample) => (sample ? readColumn(sample, file) : TEXT))
  const decimal = file.given.decimal ?? decimalIn(samples, first, file.delimiter)
  const known = decimal === undefined ? file : { ...file, decimal }
  const read = samples.map((sample, at): ColumnReading => {
    if (!sample) return TEXT
    const withMore = (more: readonly Sampled[]) => {
      const values = [...sample.values, ...more]
      const read = readColumn({ ...sample, values, numbers: numbersIn(values) }, known)
      return { ...read, options: { ...file.given, ...read.options } }
    }
    // What a point or a comma in digits such as 2.500 means, and which of the two −5 is read with, depends on other columns.
    const isSame = !sample.numbers || (sample.numbers.either.size === 0 && !sample.numbers.minus)
    return { ...(isSame ? first[at]! : readColumn(sample, known)), withMore }
  })
  return inOneStyle(read, samples, known)
}

interface Sample extends ColumnSample {
  /** Words for nothing. */
  readonly missing: readonly Sampled[]
}

function sampleOf(
  rows: readonly SampledRow[],
  at: number,
  { given, names = [] }: FileFacts,
  isNumber: boolean,
): Sample {
  const isMissing = given.nulls ? (text: string) => given.nulls!.includes(text) : isUsualNull
  const [values, missing]: [Sampled[], Sampled[]] = [[], []]
  for (const { row, fields } of rows) {
    const { text, quoted } = fields[at] ?? { text: '', quoted: false }
    if (text === '') continue
    const kind = !quoted && isMissing(text) ? missing : values
    kind.push({ row, text, quoted })
  }
  const isNamedAsTwo = /,\S/.test(names[at] ?? '')
  return { values, missing, numbers: numbersIn(values), isNumber, isNamedAsTwo }
}

function readColumn(sample: Sample, file: FileFacts): ColumnReading {
  const { values, missing } = sample
  if (values.length === 0) return { ...TEXT, is: 'open' }
  let options: UploadOptions = {}
  const why: Choice[] = []
  for (const { option, find } of VALUE_RULES) {
    const finding = find(sample, file)
    if (!finding) continue
    if ('ambiguous' in finding) {
      const { row, text } = finding.ambiguous
      return { ...TEXT, is: 'ambiguous', because: textReason(row, text, textsFrom(values, row)) }
    }
    options = { ...options, ...finding.options }
    why.push({ option, ...choiceOf(finding.shownBy) })
  }
  const kinds = kindsOf(values, { ...file.given, ...options })
  const open = openValue(kinds, sample, file.given)
  if (open) return { ...TEXT, is: 'ambiguous', because: textReason(open.row, open.text) }
  if (inferType(kinds) === 'string') {
    const { row, text } = values.find(({ text }) => (kindOf(text) & TEXT_KIND.text) !== 0) ?? values[0]!
    const is = kinds === TEXT_KIND.text ? 'text' : 'mixed'
    const isAll = missing.length > 0 && is === 'text'
    return { ...TEXT, is, ...(isAll && { because: textReason(row, text, textsFrom(values, row)) }) }
  }
  if (missing.length > 0 && !file.given.nulls) {
    options = { ...options, nulls: [...new Set(missing.map(({ text }) => text))] }
    why.push({ option: 'nulls', ...choiceOf(missing[0]!) })
  }
  return { is: 'typed', options, why }
}

/** Some values, from that of a row on, and then those before it. */
const textsFrom = (values: readonly Sampled[], from: number) =>
  [...values.filter(({ row }) => row >= from), ...values.filter(({ row }) => row < from)]
    .slice(0, LOOKED_AT)
    .map(({ text }) => text)

/** A value of a column that is a name or a code as well: of persons called Nan, or 1e5 where no number has a point or a sign. */
function openValue(kinds: number, { values, isNumber }: Sample, given: UploadOptions): Sampled | undefined {
  if (kinds === TEXT_KIND.special) return values[0]
  if (isNumber || given.decimal !== undefined || !isCode(kinds) || inferType(kinds) === 'string')
    return undefined
  return values.find(({ text }) => kindOf(text) === TEXT_KIND.bareExponent)
}

const MOST_SHOWN = 60
export const choiceOf = ({ row, text }: Pick<Sampled, 'row' | 'text'>) => ({
  row,
  value: text.slice(0, MOST_SHOWN),
})

/** The kinds of the values of a column. */
function kindsOf(values: readonly Sampled[], options: UploadOptions): number {
  const { isPointed, value } = fieldReader({ ...options, decimal: decimalOf(options) })
  return values.reduce((mask, { text }) => {
    return mask | (isPointed(text) ? TEXT_KIND.text : kindOf(value(text, false) ?? text))
  }, 0)
}

const decimalOf = ({ decimal, thousands }: UploadOptions) => decimal ?? (thousands === '.' ? ',' : '.')

/** The decimal separator that columns show. Where they show both, it is the one that goes with the delimiter. */
function decimalIn(
  samples: readonly (Sample | undefined)[],
  read: readonly ColumnReading[],
  delimiter: string,
): '.' | ',' | undefined {
  const shown = read.flatMap(({ is }, at) => {
    const style = is === 'typed' ? samples[at]!.numbers?.styleIn(undefined) : undefined
    if (!style || style.ambiguous) return []
    return style.decimal ?? (style.thousands === ',' ? '.' : [])
  })
  const commas = shown.filter((decimal) => decimal === ',').length
  if (shown.length === 0) return undefined
  if (delimiter === ';' && commas > 0) return ','
  return 2 * commas > shown.length ? ',' : '.'
}

/** The options that a file has once. */
const ONCE = ['decimal', 'thousands', 'dates'] as const

/** The columns as one file has them: what most columns need is taken, and others stay text. */
function inOneStyle(
  read: readonly ColumnReading[],
  samples: readonly (Sample | undefined)[],
  { decimal, given }: FileFacts,
): readonly ColumnReading[] {
  const typed = read.filter(({ is }) => is === 'typed')
  const isComma = decimal === ',' && typed.some(({ options }) => options.decimal === ',')
  // What is before decimal places in most columns is not between thousands in others.
  const mark = isComma ? ',' : '.'
  const most = Object.fromEntries(
    ONCE.map((option) => {
      const found = typed.map(({ options }) => options[option]).filter((value) => value !== mark)
      return [option, mostOf(found)]
    }),
  )
  const style: UploadOptions = { ...most, decimal: mark }
  return read.map((one, at) => {
    if (one.is !== 'typed') return one
    const { options } = one
    const differs = ONCE.some((option) => options[option] !== undefined && options[option] !== style[option])
    const pointed =
      isComma && given.decimal === undefined ? samples[at]!.numbers?.decimals.get('.') : undefined
    const found = differs ? samples[at]!.values[0]! : pointed
    return found ? { ...TEXT, is: 'ambiguous', because: textReason(found.row, found.text) } : one
  })
}

function mostOf<T>(values: readonly (T | undefined)[]): T | undefined {
  const counts = new Map<T, number>()
  for (const value of values) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].reduce<[T | undefined, number]>((a, b) => (b[1] > a[1] ? b : a), [undefined, 0])[0]
}

/** The options of all columns together, and by which values they were chosen. */
export function optionsOf(columns: readonly ColumnReading[]): {
  options: UploadOptions
  why: readonly Choice[]
} {
  const options: Record<string, unknown> = {}
  const why = new Map<string, Choice>()
  for (const column of columns) {
    for (const [name, value] of Object.entries(column.options)) {
      options[name] =
        Array.isArray(value) && name !== 'booleans'
          ? [...new Set([...((options[name] ?? []) as string[]), ...value])]
          : value
    }
    for (const choice of column.why) if (!why.has(choice.option)) why.set(choice.option, choice)
  }
  if (options['nulls']) options['textNulls'] = 'keep'
  return { options, why: [...why.values()] }
}
