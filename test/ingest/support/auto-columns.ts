/** Columns made at random whose values are known, as the offices of several countries write them. */

/** What a cell means: null, a number, a day as ISO 8601 or a text. */
export type Meant = string | number | null

export interface Cell {
  readonly meant: Meant
  readonly written: string
  /** Whether it is in quotes although it need not be. */
  readonly quoted?: boolean
}

export interface MadeTable {
  readonly text: string
  readonly columns: readonly { readonly kind: string; readonly cells: readonly Cell[] }[]
  /** Whether it is an error, because its rows have more fields than its header. */
  readonly isRefused?: boolean
  /** Whether its first rows, which are more than `auto` looks at, say nothing of those below them. */
  readonly isLate?: boolean
}

/** Numbers from 0 to 1 that are the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

export interface Country {
  readonly delimiter: string
  readonly decimal: string
  readonly thousands: string
  readonly symbols: readonly string[]
  readonly isSymbolFirst: boolean
}

export const COUNTRIES: readonly Country[] = [
  { delimiter: ',', decimal: '.', thousands: ',', symbols: ['$', 'USD '], isSymbolFirst: true },
  { delimiter: ';', decimal: ',', thousands: '.', symbols: ['€', '%'], isSymbolFirst: false },
  { delimiter: ';', decimal: ',', thousands: '\u00a0', symbols: ['€', '%'], isSymbolFirst: false },
  { delimiter: ';', decimal: '.', thousands: "'", symbols: ['CHF'], isSymbolFirst: false },
  { delimiter: '\t', decimal: ',', thousands: ' ', symbols: ['kr'], isSymbolFirst: false },
]

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
export const two = (n: number) => String(n).padStart(2, '0')

export type DateForm = (y: number, m: number, d: number) => string

/** Forms with a year of two digits. */
const SHORT_DATES: readonly DateForm[] = [
  (y, m, d) => `${d}.${m}.${two(y % 100)}`,
  (y, m, d) => `${two(m)}/${two(d)}/${two(y % 100)}`,
]
const DATES: readonly DateForm[] = [
  (y, m, d) => `${y}-${two(m)}-${two(d)}`,
  (y, m, d) => `${two(d)}.${two(m)}.${y}`,
  (y, m, d) => `${two(d)}/${two(m)}/${y}`,
  (y, m, d) => `${m}/${d}/${y}`,
  (y, m, d) => `${y}/${m}/${d}`,
  (y, m, d) => `${two(d)}-${MONTHS[m - 1]}-${y}`,
  ...SHORT_DATES,
]
export const dayIn = (form: DateForm, y: number, m: number, d: number): Cell => ({
  meant: `${y}-${two(m)}-${two(d)}`,
  written: form(y, m, d),
})

const NAMES = [
  'Ada',
  'Müller',
  "O'Neill",
  'Null',
  'NULL',
  'NA',
  'None',
  'n/a',
  '-',
  'Li',
  'Doe, Jane',
  'van "Dyk"',
  'Nan',
]
const NOTHING = ['NA', 'n/a', '-', 'k. A.', 'NULL', '#NV', '..', '']

/** Makes columns of one kind; each call of the inner function makes a cell. */
type Kind = (random: () => number, country: Country) => () => Cell

export const whole = (random: () => number, from: number, to: number) =>
  from + Math.floor(random() * (to - from + 1))
export const oneOf = <T>(random: () => number, all: readonly T[]): T =>
  all[Math.floor(random() * all.length)]!
export const text = (written: string): Cell => ({ meant: written === '' ? null : written, written })

function grouped(digits: string, separator: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, separator)
}

export function numberIn(
  { decimal, thousands }: Country,
  value: number,
  places: number,
  isGrouped: boolean,
): string {
  const [digits = '', fraction] = Math.abs(value).toFixed(places).split('.')
  const sign = value < 0 ? '-' : ''
  return sign + (isGrouped ? grouped(digits, thousands) : digits) + (fraction ? decimal + fraction : '')
}

/** A cell of a column of values, which is sometimes a word for nothing. */
const orNothing = (random: () => number, word: string, share: number, cell: () => Cell): Cell =>
  random() < share ? { meant: null, written: word } : cell()

export const KINDS: Readonly<Record<string, Kind>> = {
  names: (random) => () => text(oneOf(random, NAMES)),
  ids: (random) => {
    const isPadded = random() < 0.3
    return () => {
      const id = whole(random, 1, 99_999)
      return isPadded ? text(String(id).padStart(5, '0')) : { meant: id, written: String(id) }
    }
  },
  phones: (random) => {
    const form = oneOf<() => string>(random, [
      () => `555 ${whole(random, 100, 999)} ${whole(random, 100, 999)}`,
      () => `(555) ${whole(random, 100, 999)}-${whole(random, 1000, 9999)}`,
      () => `+49 30 ${whole(random, 100, 999)} ${whole(random, 100, 999)}`,
      () => `0${whole(random, 1, 9)} ${[0, 0, 0, 0].map(() => whole(random, 10, 99)).join(' ')}`,
      () => `0${whole(random, 20, 99)} ${whole(random, 100, 999)} ${whole(random, 100, 999)}`,
      () => `0${whole(random, 20, 99)}.${whole(random, 100, 999)}${oneOf(random, ['', '.456'])}`,
    ])
    return () => text(form())
  },
  versions: (random) => () => {
    return text(`${whole(random, 1, 24)}.${whole(random, 0, 12)}.${whole(random, 0, 31)}`)
  },
  // 1.8, 1.9, 1.10 …
  releases: (random) => {
    const major = whole(random, 1, 9)
    let minor = whole(random, 8, 9) - 1
    return () => text(`${major}.${++minor}`)
  },
  persons: (random) => {
    const word = oneOf(random, NOTHING)
    return () => text(random() < 0.2 ? word : 'Nan')
  },
  codes: (random) => () =>
    text(`${whole(random, 1, 999)}${oneOf(random, ['E', 'e'])}${whole(random, 0, 99)}`),
  lists: (random, { delimiter, decimal }) => {
    const digits = whole(random, 1, 4)
    const [from, to] = [10 ** (digits - 1), 10 ** digits - 1]
    // Where commas are for decimal places, lists have something else between their items.
    const between = decimal === ',' || delimiter === ';' ? oneOf(random, [';', ', ', ' / ']) : ','
    return () =>
      text(Array.from({ length: whole(random, 2, 4) }, () => whole(random, from, to)).join(between))
  },
  answers:
    (random, { delimiter }) =>
    () => {
      const first = whole(random, 1, 4)
      return text(delimiter === ';' ? `${first}, ${first + 1}` : `${first},${whole(random, first + 1, 5)}`)
    },
  coordinates: (random, country) => {
    const places = whole(random, 3, 6)
    return () => {
      const value = Number((random() * 180 - 90).toFixed(places))
      return { meant: value, written: numberIn(country, value, places, false) }
    }
  },
  prices: (random, country) => {
    const symbol = random() < 0.4 ? oneOf(random, country.symbols) : ''
    const places = oneOf(random, [0, 2, 2, 3])
    const word = oneOf(random, NOTHING)
    const largest = oneOf(random, [20, 2000, 5_000_000])
    return () =>
      orNothing(random, word, 0.15, () => {
        const value = Number((random() * largest).toFixed(places))
        const number = numberIn(country, value, places, true)
        if (symbol === '') return { meant: value, written: number }
        return { meant: value, written: country.isSymbolFirst ? symbol + number : `${number} ${symbol}` }
      })
  },
  counts: (random, country) => {
    const word = oneOf(random, NOTHING)
    const isGrouped = random() < 0.7
    return () =>
      orNothing(random, word, 0.2, () => {
        const value = Math.floor(10 ** (random() * 7))
        return { meant: value, written: numberIn(country, value, 0, isGrouped) }
      })
  },
  births: (random) => {
    const form = oneOf(random, SHORT_DATES)
    let row = 0
    return () => {
      // By its two digits alone the second one is born after the first, in 2031.
      const y = [1970, whole(random, 1931, 1936)][row++] ?? whole(random, 1931, 2009)
      return dayIn(form, y, whole(random, 1, 12), row === 1 ? 28 : whole(random, 1, 28))
    }
  },
  // Nothing is open about shares and readings, so that they have to become what they are.
  shares: (random, country) => () => {
    const value = whole(random, 1, 999) / 1000
    return { meant: value, written: numberIn(country, value, 3, false) }
  },
  readings: (random) => {
    const isDay = random() < 0.5
    return () => {
      if (random() < 0.3) return { meant: null, written: '', quoted: true }
      const n = whole(random, 10, 28)
      return isDay ? { meant: `2024-05-${n}`, written: `2024-05-${n}` } : { meant: n, written: String(n) }
    }
  },
  sizes: (random, country) => () => {
    const value = whole(random, 1, 99_999)
    return { meant: value, written: numberIn(country, value, 0, true) }
  },
  dates: (random) => {
    const form = oneOf(random, DATES)
    const word = oneOf(random, NOTHING)
    const [first, last] = oneOf<[number, number]>(random, [
      [1971, 2030],
      [2022, 2025],
      [2001, 2012],
    ])
    return () =>
      orNothing(random, word, 0.1, () => {
        return dayIn(form, whole(random, first, last), whole(random, 1, 12), whole(random, 1, 28))
      })
  },
  flags: (random) => () =>
    oneOf(random, [
      { meant: 'true', written: 't' },
      { meant: 'false', written: 'f' },
    ]),
  mixtures: (random, country) => {
    const one = oneOf<readonly string[]>(random, [
      ['€', '£', ''],
      ['%', ''],
    ])
    let row = 0
    return () => text(one[row++ % one.length] + numberIn(country, whole(random, 1, 99), 0, false))
  },
  addresses: (random) => () =>
    text(
      `${whole(random, 1, 99)} ${oneOf(random, ['Main St', 'Oak Ave'])}, ${oneOf(random, ['Hull', 'Bath'])}`,
    ),
}
