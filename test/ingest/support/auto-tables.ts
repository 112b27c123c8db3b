/**
 * Tables made at random of columns whose values are known, written as csv by the rules of a country, for tests of
 * `dialect=auto`.
 */

/** What a cell means: null, a number, a day as ISO 8601 or a text. */
export type Meant = string | number | null

interface Cell {
  readonly meant: Meant
  readonly written: string
  /** Whether it is in quotes although it need not be. */
  readonly quoted?: boolean
}

export interface MadeTable {
  readonly text: string
  readonly columns: readonly { readonly kind: string; readonly cells: readonly Cell[] }[]
  /** Whether its rows have more fields than its header, which is an error. */
  readonly isWider?: boolean
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

interface Country {
  readonly delimiter: string
  readonly decimal: string
  readonly thousands: string
  readonly symbols: readonly string[]
  readonly isSymbolFirst: boolean
}

const COUNTRIES: readonly Country[] = [
  { delimiter: ',', decimal: '.', thousands: ',', symbols: ['$', 'USD '], isSymbolFirst: true },
  { delimiter: ';', decimal: ',', thousands: '.', symbols: ['€', '%'], isSymbolFirst: false },
  { delimiter: ';', decimal: ',', thousands: '\u00a0', symbols: ['€', '%'], isSymbolFirst: false },
  { delimiter: ';', decimal: '.', thousands: "'", symbols: ['CHF'], isSymbolFirst: false },
  { delimiter: '\t', decimal: ',', thousands: ' ', symbols: ['kr'], isSymbolFirst: false },
]

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = (n: number) => String(n).padStart(2, '0')

const DATES: readonly ((y: number, m: number, d: number) => string)[] = [
  (y, m, d) => `${y}-${two(m)}-${two(d)}`,
  (y, m, d) => `${two(d)}.${two(m)}.${y}`,
  (y, m, d) => `${d}.${m}.${y % 100 < 10 ? `0${y % 100}` : y % 100}`,
  (y, m, d) => `${two(d)}/${two(m)}/${y}`,
  (y, m, d) => `${m}/${d}/${y}`,
  (y, m, d) => `${two(m)}/${two(d)}/${two(y % 100)}`,
  (y, m, d) => `${y}/${m}/${d}`,
  (y, m, d) => `${two(d)}-${MONTHS[m - 1]}-${y}`,
]

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

const whole = (random: () => number, from: number, to: number) =>
  from + Math.floor(random() * (to - from + 1))
const oneOf = <T>(random: () => number, all: readonly T[]): T => all[Math.floor(random() * all.length)]!
const text = (written: string): Cell => ({ meant: written === '' ? null : written, written })

function grouped(digits: string, separator: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, separator)
}

function numberIn(
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
    ])
    return () => text(form())
  },
  versions: (random) => () => {
    return text(`${whole(random, 1, 24)}.${whole(random, 0, 12)}.${whole(random, 0, 31)}`)
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
  // Nothing is open about these, so that they have to become what they are.
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
        const [y, m, d] = [whole(random, first, last), whole(random, 1, 12), whole(random, 1, 28)]
        return { meant: `${y}-${two(m)}-${two(d)}`, written: form(y, m, d) }
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

export function makeTable(seed: number): MadeTable {
  const random = randomOf(seed)
  const special = random()
  if (special < 0.1) return oneOf(random, [unquotedAddresses, numbersAsNames, unquotedCommas])(random)
  const country = oneOf(random, COUNTRIES)
  const isLate = seed % 2 === 0
  // Sizes are what is read most easily as something else.
  const kinds = [...Object.keys(KINDS), ...(isLate ? ['sizes', 'sizes', 'sizes'] : [])]
  const rows = whole(random, 3, 12)
  const columns = Array.from({ length: whole(random, 2, 6) }, () => {
    const kind = oneOf(random, kinds)
    const make = KINDS[kind]!(random, country)
    const cells = Array.from({ length: rows }, make)
    // Some columns show from the start how the file is written.
    const isTold = !isLate || random() < 0.4
    return { kind, cells: isLate ? [...above(kind, isTold ? cells : [], cells[0]!), ...cells] : cells }
  })
  const field = ({ written, quoted = false }: Omit<Cell, 'meant'>) =>
    quoted || written.includes(country.delimiter) || /["\n]/.test(written)
      ? `"${written.replaceAll('"', '""')}"`
      : written
  const line = (fields: readonly Omit<Cell, 'meant'>[]) => `${fields.map(field).join(country.delimiter)}\n`
  const lines = columns[0]!.cells.map((_, row) => line(columns.map(({ cells }) => cells[row]!)))
  const names = columns.map(({ kind }, at) => ({ written: `${kind} ${at + 1}` }))
  return { text: line(names) + lines.join(''), columns, isLate }
}

/** More cells than `auto` looks at: those of the column again, or else some that say nothing of it. */
function above(kind: string, cells: readonly Cell[], first: Cell): Cell[] {
  const isRepeated = ['names', 'addresses', 'mixtures', 'flags', 'versions', 'codes', 'readings'].includes(
    kind,
  )
  const day = '2024-05-06'
  const plain: Cell = kind === 'dates' ? { meant: day, written: day } : { meant: 101, written: '101' }
  const texts = kind === 'lists' || kind === 'answers' || kind === 'phones' ? text('101') : plain
  const all = cells.length > 0 ? cells : [isRepeated ? first : texts]
  return Array.from({ length: 1010 }, (_, at) => all[at % all.length]!)
}

/** A column of addresses whose commas are not quoted, under a header without one. */
function unquotedAddresses(random: () => number): MadeTable {
  const make = KINDS['addresses']!(random, COUNTRIES[0]!)
  const cells = Array.from({ length: whole(random, 3, 12) }, make)
  return {
    text: `address\n${cells.map(({ written }) => `${written}\n`).join('')}`,
    columns: [{ kind: 'addresses', cells }],
  }
}

/** Answers to questions, which are called 1, 2, 3. */
function numbersAsNames(random: () => number): MadeTable {
  const rows = whole(random, 3, 12)
  const numbers = () =>
    Array.from({ length: rows }, () => whole(random, 1, 5)).map((n) => ({ meant: n, written: String(n) }))
  const names = Array.from({ length: rows }, (_, row) => text(`R${row + 1}`))
  const columns = [names, ...Array.from({ length: whole(random, 2, 4) }, numbers)].map((cells) => ({
    kind: 'answers',
    cells,
  }))
  const lines = names.map((_, row) => `${columns.map(({ cells }) => cells[row]!.written).join(',')}\n`)
  return {
    text: `respondent,${columns
      .slice(1)
      .map((_, at) => at + 1)
      .join(',')}\n${lines.join('')}`,
    columns,
  }
}

/** Thousands or names whose commas are not quoted, under a header of two names. */
function unquotedCommas(random: () => number): MadeTable {
  const second = oneOf(random, [
    () => `${whole(random, 1, 99)},${whole(random, 100, 999)}`,
    () => 'Doe, Jane',
  ])
  const first = oneOf<(row: number) => string>(random, [(row) => String(row), (row) => `R${row}`])
  const lines = Array.from({ length: whole(random, 2, 12) }, (_, row) => `${first(row)},${second()}\n`)
  return { text: `city,pop\n${lines.join('')}`, columns: [], isWider: true }
}

/** How a value that was stored differs from the one that was meant; undefined if it does not. */
export function faultIn(
  { kind, cells }: MadeTable['columns'][number],
  type: string,
  values: readonly (string | null)[],
  isExplained: boolean,
): string | undefined {
  const isText = type === 'string'
  if (kind === 'readings' && isText && cells.some(({ meant }) => meant !== null)) return 'it is text'
  for (const [row, { meant, written, quoted }] of cells.entries()) {
    const value = values[row]!
    const isAsWritten = value === (written === '' && !quoted ? null : written)
    const isMeant = isText ? isAsWritten : isSame(value, meant) || isAsWritten
    if (!isMeant)
      return `${JSON.stringify(written)} became ${JSON.stringify(value)}, not ${JSON.stringify(meant)}`
  }
  const isNoText = cells.some(({ meant, written }) => meant !== null && meant !== written)
  return isText && isNoText && !isExplained ? 'it is text without a reason' : undefined
}

function isSame(value: string | null, meant: Meant): boolean {
  if (value === null || meant === null) return value === meant
  return typeof meant === 'number' ? Number(value) === meant : value === meant
}
