import type { Sampled, UploadOptions } from '../request.ts'
import { kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import type { Numbers } from './numbers.ts'
import { dateReader } from './syntax.ts'
import { USUAL_BOOLEANS, USUAL_NULLS } from './words.ts'

const DATE_FORMS = [
  ...['D.M.YYYY', 'D/M/YYYY', 'M/D/YYYY', 'D-M-YYYY', 'M-D-YYYY'],
  ...['YYYY/M/D', 'YYYY-M-D', 'YYYY.M.D', 'YYYY年M月D日'],
  ...['D.M.YY', 'D/M/YY', 'M/D/YY', 'YY/M/D'],
  ...['D MMM YYYY', 'D-MMM-YYYY', 'D-MMM-YY', 'DDMMMYYYY', 'MMM D, YYYY'],
]
const readers = new Map<string, (text: string) => string | undefined>()

export function dateIn(form: string): (text: string) => string | undefined {
  const reader = readers.get(form) ?? dateReader(form)
  readers.set(form, reader)
  return reader
}

/** The values of a column that are not missing, and what is known of them. */
export interface ColumnSample {
  readonly values: readonly Sampled[]
  readonly numbers: Numbers | undefined
  /** Whether the dataset or the request declares the column as one of numbers. */
  readonly isNumber: boolean
  /** Whether its name is as `a,b`, so that its values may be two as well. */
  readonly isNamedAsTwo: boolean
}

/** What the values of the other columns, the delimiter and the given options say of all numbers of a file. */
export interface FileFacts {
  readonly delimiter: string
  readonly given: UploadOptions
  /** The decimal separator that some column shows. */
  readonly decimal?: '.' | ','
  /** The names of the columns, where the file has a header. */
  readonly names?: readonly string[]
}

/** What a rule says of a column: options by which it is read, each with the value that shows it, or that it stays text. */
export type Finding =
  | { readonly options: UploadOptions; readonly shownBy: Sampled }
  | { readonly ambiguous: Sampled }
  | undefined

export interface Rule {
  readonly option: keyof UploadOptions
  /** When the option is chosen: a sentence for the guide. */
  readonly about: string
}

interface ValueRule extends Rule {
  readonly find: (column: ColumnSample, file: FileFacts) => Finding
}

/**
 * By which evidence `dialect=auto` reads the values of a column as something else than text. Rules apply to each column
 * for itself, in this order. All values of the column have to fit; a column of which a rule says that it is ambiguous
 * stays text.
 */
export const VALUE_RULES: readonly ValueRule[] = [
  {
    option: 'booleans',
    about: 'Every value is `t` or `f`, and both occur.',
    find: ({ values }) => {
      const [yes, no] = USUAL_BOOLEANS
      if (!values.every(({ text }) => text === yes || text === no)) return undefined
      const both = values.some(({ text }) => text === yes) && values.some(({ text }) => text === no)
      return both ? { options: { booleans: USUAL_BOOLEANS }, shownBy: values[0]! } : undefined
    },
  },
  {
    option: 'dates',
    about:
      'Exactly one form fits all values: `31/12/2024` somewhere in the column shows that the day comes first. Three ' +
      'numbers with points, such as `10.4.11`, are dates only with a year of four digits or above 31, or if all ' +
      'numbers have two digits, as in `31.01.24`. Years of two digits may also come first: they come last if those ' +
      'years are close together and the others are not. If years of two digits would be more than 60 years apart, ' +
      'as those of births may be, nothing shows their century.',
    find: ({ values }, { given }) => (given.dates === undefined ? datesIn(values) : undefined),
  },
  {
    option: 'symbols',
    about:
      'Every value has the same symbol before or after its number; `5%` is then 5, as shown. `€5` and `£6`, or `5%` and `0.07`, stay text. Where ' +
      'no number has one, some have spaces around them. A plus before numbers is such a symbol where others of the column ' +
      'have a minus, a decimal separator or another symbol: `+0.3`; telephone numbers stay text.',
    find: ({ numbers }, { given }) => {
      if (!numbers || given.symbols) return undefined
      const isBare = [...numbers.symbols.keys()].join('') === ''
      const [first, ...others] = isBare ? numbers.spaces : numbers.symbols
      if (others.length > 0)
        return isBare ? undefined : { ambiguous: others[0]![0] === '' ? first![1] : others[0]![1] }
      const plus = numbers.signed
      const shownBy = first?.[1] ?? plus
      if (!shownBy) return undefined
      return { options: { symbols: [...(first ? [first[0]] : []), ...(plus ? ['+'] : [])] }, shownBy }
    },
  },
  {
    option: 'decimal',
    about:
      'Some number shows which character is the decimal separator: `3,5`, `1.234,50`, or `0.125` in another column. ' +
      'If every number has a point (or a comma) and three digits after it, as `2.500` does, the column stays text. ' +
      'Pairs such as `1,2` may also be lists: they are numbers if the delimiter is a semicolon (and neither ' +
      'the name of the column is such a pair, `a,b`, nor three values or more are all two numbers of equally many digits, ' +
      'of which short ones ascend: `1,5`, `2,5`, `3,5`), or if a sign, a symbol, thousands, a zero after the comma (`1,05`) or amounts such as `1,50` show it. A column with `1.9` and ' +
      '`1.10` may hold versions, and one with `1e5` codes, where no number has a point or a sign: they stay text. A minus that is no hyphen, as in `−5`, is read with either.',
    find: ({ numbers, isNumber, isNamedAsTwo }, file) => {
      if (!numbers || isGiven(file)) return undefined
      if (numbers.version && !isNumber) return { ambiguous: numbers.version }
      const style = numbers.styleIn(file.decimal)
      if (style === undefined) return undefined
      if (style.ambiguous) return style
      if (style.decimal !== ',') {
        const decimal = style.decimal ?? (style.thousands === ',' ? '.' : (file.decimal ?? '.'))
        return numbers.minus && { options: { decimal }, shownBy: numbers.minus }
      }
      const shownBy =
        numbers.decimals.get(',') ?? numbers.groups.get('.') ?? numbers.either.values().next().value!
      const isShown =
        isNumber || !numbers.decimals.has(',') || numbers.areDecimals(isNamedAsTwo ? ',' : file.delimiter)
      return isShown ? { options: { decimal: ',' }, shownBy } : { ambiguous: shownBy }
    },
  },
  {
    option: 'thousands',
    about:
      'Digits in groups of three are numbers if they have two lengths (`999` and `1,234`), a decimal separator, a minus ' +
      'sign, a symbol or an apostrophe somewhere in the column, and a number that begins with one or two digits. ' +
      'Otherwise `101,102` may be a list and `555 123 456` a telephone number.',
    find: ({ numbers, isNumber }, file) => {
      if (!numbers || isGiven(file)) return undefined
      const style = numbers.styleIn(file.decimal)
      if (!style || style.ambiguous || style.thousands === undefined) return undefined
      const shownBy = numbers.groups.get(style.thousands) ?? numbers.either.values().next().value!
      return isNumber || numbers.areGrouped
        ? { options: { thousands: style.thousands }, shownBy }
        : { ambiguous: shownBy }
    },
  },
]

const isGiven = ({ given }: FileFacts) => given.decimal !== undefined || given.thousands !== undefined

/** The rule for words, which looks at the types of columns. */
export const NULLS_RULE: Rule = {
  option: 'nulls',
  about:
    `An unquoted word for nothing (${USUAL_NULLS.map((word) => `\`${word}\``).join(', ')}), or nothing but whitespace, is null in columns that ` +
    'hold numbers, dates or other values apart from it, each column for itself. In columns of text, where `NA` may be ' +
    'Namibia, such words stay as they are: `textNulls=keep`.',
}

/** A form and evidence that days of all values have it. */
function datesIn(values: readonly Sampled[]): Finding {
  const isIso = (text: string) => (kindOf(text) & (TEXT_KIND.date | TEXT_KIND.timestamp)) !== 0
  const first = values.find(({ text }) => !isIso(text))
  if (!first || first.text.length > 40 || !/\d/.test(first.text)) return undefined
  const possible = DATE_FORMS.filter((form) => dateIn(form)(first.text) !== undefined)
  if (possible.length === 0) return undefined
  const others = values.filter(({ text }) => !isIso(text))
  const fitting = possible.filter((form) => others.every(({ text }) => dateIn(form)(text) !== undefined))
  const [form, ...rivals] = fitting.length > 1 ? closest(fitting, others) : fitting
  if (form === undefined) return undefined
  const isShort = !form.includes('YYYY')
  if (rivals.length > 0 || (form === 'D.M.YY' && !areDays(others)) || (isShort && span(form, others) > 60))
    return { ambiguous: first }
  return { options: { dates: form }, shownBy: others.find(({ text }) => isTelling(text)) ?? first }
}

const partsIn = (text: string) => text.match(/\d+/g)?.slice(0, 3) ?? []
/** A day above 12 or a year of four digits is what tells one form from another. */
const isTelling = (text: string) => Number(partsIn(text)[0]) > 12 || Number(partsIn(text)[1]) > 12

/** Whether three numbers with points and a short year are days, and no versions. */
function areDays(values: readonly Sampled[]): boolean {
  const parts = values.map(({ text }) => partsIn(text))
  if (parts.some(([, , year]) => Number(year) > 31)) return true
  return (
    parts.every((three) => three.every(({ length }) => length === 2)) &&
    parts.some(([day, month]) => day!.startsWith('0') || month!.startsWith('0')) &&
    parts.some(([day]) => Number(day) > 12) &&
    !values.every(
      ({ text }) => dateIn('YY.M.D')(text) !== undefined && closest(['D.M.YY', 'YY.M.D'], values).length > 1,
    )
  )
}

/** The forms without those that begin with a year, if their years are far apart and those of another form are not. */
function closest(forms: readonly string[], values: readonly Sampled[]): readonly string[] {
  const isClose = forms.some((form) => !form.startsWith('YY') && span(form, values) <= 2)
  return forms.filter((form) => !isClose || !/^YY\W/.test(form) || span(form, values) < 20)
}

/** How many years lie between the first and the last of the days. */
function span(form: string, values: readonly Sampled[]): number {
  const years = values.map(({ text }) => Number(dateIn(form)(text)?.slice(0, 4)))
  return Math.max(...years) - Math.min(...years)
}
