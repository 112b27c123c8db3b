/**
 * Tables made at random of columns whose values are known, written as csv by the rules of a country, for tests of
 * `dialect=auto`.
 */

import type { UploadOptions } from '../../../engine/ingest/request.ts'
import {
  type Cell,
  COUNTRIES,
  KINDS,
  type MadeTable,
  type Meant,
  oneOf,
  randomOf,
  text,
  whole,
} from './auto-columns.ts'
import { SPECIAL } from './auto-special.ts'

export function makeTable(seed: number): MadeTable {
  const random = randomOf(seed)
  const special = random()
  if (special < 0.16) return oneOf(random, SPECIAL)(random)
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
    const isTold = !isLate || ALWAYS_TOLD.has(kind) || random() < 0.4
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

/** In the first rows alone these are like numbers or days of a known century. */
const ALWAYS_TOLD = new Set(['releases', 'births'])

/** More cells than `auto` looks at: those of the column again, or else some that say nothing of it. */
function above(kind: string, cells: readonly Cell[], first: Cell): Cell[] {
  const isRepeated = /^(names|addresses|mixtures|flags|versions|codes|readings|shares)$/.test(kind)
  const day = '2024-05-06'
  const plain: Cell = kind === 'dates' ? { meant: day, written: day } : { meant: 101, written: '101' }
  const texts = kind === 'lists' || kind === 'answers' || kind === 'phones' ? text('101') : plain
  const unread = kind === 'persons' ? text('') : isRepeated ? first : texts
  const all = cells.length > 0 ? cells : [unread]
  return Array.from({ length: 1010 }, (_, at) => all[at % all.length]!)
}

/** How a value that was stored differs from the one that was meant; undefined if it does not. */
export function faultIn(
  { kind, cells }: MadeTable['columns'][number],
  type: string,
  values: readonly (string | null)[],
  isExplained: boolean,
): string | undefined {
  const isText = type === 'string'
  const isOpen = kind !== 'readings' && kind !== 'shares'
  if (!isOpen && isText && cells.some(({ meant }) => meant !== null)) return 'it is text'
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

/** An option that was chosen although no column that is not text needs it; undefined if there is none. */
export function unusedIn(
  { symbols = [], nulls = [], decimal, thousands, dates, booleans }: UploadOptions,
  { columns }: MadeTable,
  types: readonly string[],
): string | undefined {
  const written = columns.flatMap(({ cells }, at) =>
    types[at] === 'string' ? [] : cells.map(({ written }) => written.replaceAll('\u00a0', ' ')),
  )
  // Where points are between thousands, commas are before decimal places, whether there are some or not.
  const marks = [...symbols, thousands ?? decimal].filter((mark) => mark !== undefined)
  return (
    marks.find((mark) => !written.some((value) => value.includes(mark))) ??
    nulls.find((word) => !written.includes(word)) ??
    (types.includes('date') ? undefined : dates) ??
    (types.includes('boolean') ? undefined : booleans?.join())
  )
}

function isSame(value: string | null, meant: Meant): boolean {
  if (value === null || meant === null) return value === meant
  return typeof meant === 'number' ? Number(value) === meant : value === meant
}
