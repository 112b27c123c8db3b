import type { Sampled } from '../request.ts'
import { USUAL_SYMBOLS } from './words.ts'

const SYMBOL = USUAL_SYMBOLS.toSorted((a, b) => b.length - a.length)
  .map((symbol) => symbol.replace(/[$.]/g, '\\$&'))
  .join('|')
const NUMBER = new RegExp(
  `^\\s*([-+\u2212]?)(?:(${SYMBOL})\\s*)?([-+\u2212]?)([\\d.,][\\d.,'\u2019 \u00a0\u202f\u2009]*)(?:[eE][-+]?\\d+)?\\s*(${SYMBOL})?\\s*$`,
)
/** Digits in groups of three, perhaps with decimal places. */
const GROUPED = /^(\d{1,3})([.,'\u2019 \u00a0\u202f\u2009])\d{3}((?:\2\d{3})*)(?:([.,])(\d+))?$/
const POINTED = /^(\d*)(?:([.,])(\d+))?$/
const LONGEST = 60

interface Style {
  readonly decimal: '.' | ',' | undefined
  readonly thousands: '.' | ',' | ' ' | "'" | undefined
  readonly ambiguous?: never
}

type Mark = '.' | ','

/** How the numbers of a column are written. Marks are points and commas; each is known with the first value that has it. */
export class Numbers {
  /** The symbols around numbers; '' where there is none. */
  readonly symbols = new Map<string, Sampled>()
  /** The whitespace around numbers. */
  readonly spaces = new Map<string, Sampled>()
  /** Marks that can only be before decimal places. */
  readonly decimals = new Map<string, Sampled>()
  /** Marks that can only be between thousands. */
  readonly groups = new Map<string, Sampled>()
  /** Marks with three digits after them, which may be either. */
  readonly either = new Map<string, Sampled>()
  readonly #lengths = new Set<number>()
  /** The fewest digits before groups of three. */
  #lead = 3
  readonly #pairs: (readonly [string, string])[] = []
  #isShort = false
  /** Some number has a single decimal place. */
  #hasTenths = false
  #padded: Sampled | undefined
  #plus: Sampled | undefined
  #isNegative = false
  /** A value with the minus of typesetters. */
  minus: Sampled | undefined
  #isExponential = false

  /** Takes a value. @returns whether it is a number */
  add(value: Sampled): boolean {
    const [, sign, before, inner, written = '', after] =
      (value.text.length <= LONGEST && NUMBER.exec(value.text)) || []
    if (sign === undefined || (sign && inner) || (before !== undefined && after !== undefined)) return false
    const body = written.trimEnd()
    const note = (marks: Map<string, Sampled>, mark: string) => marks.has(mark) || marks.set(mark, value)
    const grouped = GROUPED.exec(body)
    const pointed = grouped ? undefined : POINTED.exec(body)
    const isZero = grouped?.[1] === '0' && grouped[3] === '' && /[.,]/.test(grouped[2]!)
    if (grouped && !isZero) {
      const [, lead = '', mark, more, decimal] = grouped
      this.#lead = Math.min(this.#lead, lead.length)
      if (mark === decimal) return false
      const isEither = (mark === '.' || mark === ',') && more === '' && decimal === undefined
      note(isEither ? this.either : this.groups, /\s/.test(mark!) ? ' ' : mark!.replace('\u2019', "'"))
      if (decimal !== undefined) note(this.decimals, decimal)
    } else {
      const [, whole = '', mark, places = ''] = pointed ?? POINTED.exec(body) ?? []
      if (whole === '' && places === '') return false
      if (places.length === 1) this.#hasTenths = true
      if (/^[1-9]0$/.test(places)) this.#padded ??= value
      if (mark !== undefined) note(this.decimals, mark)
      else if (whole.length <= 3) this.#isShort = true
      if (mark === ',') this.#pairs.push([whole, places])
    }
    note(this.symbols, before ?? after ?? '')
    const [space] = /^\s|\s$/.exec(value.text) ?? []
    if (space !== undefined) note(this.spaces, space)
    this.#lengths.add(body.replace(/\D/g, '').length)
    if (sign === '+' || inner === '+') this.#plus ??= value
    this.#isNegative ||= /[-\u2212]/.test(sign + inner)
    if ((sign + inner).includes('\u2212')) this.minus ??= value
    this.#isExponential ||= /e[-+]?\d+\D*$/i.test(value.text)
    return true
  }

  /** What points and commas mean; undefined if that contradicts itself. @param decimal what the file shows */
  styleIn(decimal: Mark | undefined): Style | { readonly ambiguous: Sampled } | undefined {
    const decimals = new Set(this.decimals.keys())
    const groups = new Set(this.groups.keys())
    for (const [mark, value] of this.either) {
      const other = mark === '.' ? ',' : '.'
      if (decimals.has(mark) || groups.has(mark)) continue
      if (decimals.has(other) || decimal === other || (mark === ',' && this.#isShort)) groups.add(mark)
      else if (groups.size > 0 || decimal === mark) decimals.add(mark)
      else return { ambiguous: value }
    }
    const [point, ...points] = decimals
    const [between, ...others] = groups
    if (points.length > 0 || others.length > 0 || (point !== undefined && point === between)) return undefined
    return {
      decimal: between === '.' ? ',' : (point as Mark | undefined),
      thousands: between as Style['thousands'],
    }
  }

  /** Whether groups of three digits are those of numbers. */
  get areGrouped(): boolean {
    const areLists = this.#lengths.size < 2 || this.#lead === 3
    return !areLists || this.groups.has("'") || this.decimals.size > 0 || this.#isSure
  }

  /**
   * A value such as 1.10, if there are others such as 1.9: programs write numbers with equally many decimal places or
   * without zeros at the end, so these may be versions.
   */
  get version(): Sampled | undefined {
    return this.#hasTenths && !this.#isSure && this.groups.size === 0 ? this.#padded : undefined
  }

  /** A value with a plus, if something shows that these are changes: `+44` and `+49` may be codes of countries. */
  get signed(): Sampled | undefined {
    return this.#isNegative || this.decimals.size > 0 || !this.symbols.has('') ? this.#plus : undefined
  }

  get #isSure(): boolean {
    return this.#isNegative || this.#isExponential || !this.symbols.has('')
  }

  /** Whether something shows that digits with a comma between them are numbers, and no lists of two numbers. */
  areDecimals(delimiter: string): boolean {
    const pairs = this.#pairs
    if (this.#isSure || this.groups.size > 0) return true
    // With semicolons between fields, commas are for decimal places, unless all look like two numbers of one kind.
    if (delimiter === ';') return pairs.length < 3 || !pairs.every(isPair)
    if (pairs.some(isDecimal)) return true
    const areAmounts = pairs.every(([whole, places]) => whole.length === 1 && places.length === 2)
    return areAmounts && pairs.some(([, places]) => places.endsWith('0'))
  }
}

/** Whether digits before and after a comma are hardly two numbers of a list: `1,05`, `0,25` and `52,520008` are not. */
function isDecimal([whole, places]: readonly [string, string]): boolean {
  return (
    whole === '' ||
    (places.startsWith('0') && places.length > 1 && places.length !== whole.length) ||
    (whole === '0' && places.length > 1) ||
    places.length - whole.length >= 3
  )
}

/** Whether digits before and after a comma are as long, and in order if they are short. */
function isPair([whole, places]: readonly [string, string]): boolean {
  return whole.length === places.length && (whole.length > 2 || whole < places)
}

/** The numbers that all of these values are; undefined if they are not. */
export function numbersIn(values: readonly Sampled[]): Numbers | undefined {
  const numbers = new Numbers()
  return values.every((value) => numbers.add(value)) ? numbers : undefined
}
