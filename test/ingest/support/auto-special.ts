/** Tables made at random that are not simply columns of known kinds, for tests of `dialect=auto`. */

import {
  type Cell,
  COUNTRIES,
  dayIn,
  KINDS,
  type MadeTable,
  numberIn,
  oneOf,
  text,
  two,
  whole,
} from './auto-columns.ts'

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
  return { text: `city,pop\n${lines.join('')}`, columns: [], isRefused: true }
}

/** Numbers of firms, one of which is called Total; or their sums in a last row, which is none of the table. */
function totals(random: () => number): MadeTable {
  const isSum = random() < 0.5
  const rows = whole(random, 2, 12)
  const numbers = () => Array.from({ length: rows }, () => whole(random, 10, 99))
  const columns = [numbers(), numbers()]
  const sums = columns.map((all) => all.reduce((a, b) => a + b))
  const names = Array.from({ length: rows }, (_, row) => `Firm ${row + 1}`)
  if (!isSum) names[rows - 1] = 'Total'
  const lines = names.map((name, row) => [name, ...columns.map((all) => all[row]!)].join(';'))
  if (isSum) lines.push(['Total', ...sums].join(';'))
  return {
    text: `firm;staff;sales\n${lines.map((line) => `${line}\n`).join('')}`,
    columns: [
      { kind: 'names', cells: names.map(text) },
      ...columns.map((all) => ({
        kind: 'readings',
        cells: all.map((n) => ({ meant: n, written: String(n) })),
      })),
    ],
  }
}

/** Columns of which each is written by the rules of another country, and shows them. */
function severalStyles(random: () => number): MadeTable {
  const rows = whole(random, 3, 12)
  const [american, german] = [COUNTRIES[0]!, COUNTRIES[1]!]
  const amount = (country: typeof american) => (): Cell => {
    const cents = whole(random, 100_000, 99_999_999)
    return { meant: cents / 100, written: numberIn(country, cents / 100, 2, true) }
  }
  const makers: readonly ((row: number) => Cell)[] = [
    amount(american),
    amount(german),
    (row) => {
      const n = [whole(random, 100, 999), whole(random, 10_000, 99_999)][row] ?? whole(random, 1000, 9999)
      return { meant: n, written: numberIn(american, n, 0, true) }
    },
    (row) => dayIn((y, m, d) => `${two(d)}/${two(m)}/${y}`, 2024, whole(random, 1, 12), 28 - row),
    (row) => dayIn((y, m, d) => `${two(m)}/${two(d)}/${y}`, 2024, whole(random, 1, 12), 28 - row),
  ]
  const columns = Array.from({ length: whole(random, 2, 5) }, () => {
    const make = oneOf(random, makers)
    return { kind: 'styles', cells: Array.from({ length: rows }, (_, row) => make(row)) }
  })
  const lines = columns[0]!.cells.map((_, row) => columns.map(({ cells }) => cells[row]!.written).join(';'))
  return {
    text: `${columns.map((_, at) => `column ${at + 1}`).join(';')}\n${lines.map((line) => `${line}\n`).join('')}`,
    columns,
  }
}

export const SPECIAL: readonly ((random: () => number) => MadeTable)[] = [
  unquotedAddresses,
  numbersAsNames,
  unquotedCommas,
  totals,
  severalStyles,
]
