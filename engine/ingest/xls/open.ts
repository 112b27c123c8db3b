import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { runInNewContext } from 'node:vm'
import type { CellObject, ParsingOptions, WorkBook } from '@e965/xlsx'
import { columnLetters } from '../../util/column-letters.ts'
import type { ReadRequest } from '../request.ts'
import { malformed } from '../text/errors.ts'
import { kindOf, TEXT_KIND } from '../text/text-kinds.ts'
import {
  type Book,
  failedFormula,
  MOST_MERGED,
  type OnRow,
  type Sheet,
  type SheetCell,
} from '../workbook/book.ts'
import { numberFormat } from '../xlsx/book.ts'
import { numberCell } from '../xlsx/sheet.ts'
import { ZipReader } from '../zip/zip-reader.ts'
import { checkSectors } from './sectors.ts'

const load = createRequire(import.meta.url)

/** Rows between two pauses. */
const ROWS_AT_ONCE = 1000

/**
 * Opens a workbook of the old formats of Excel: xls, XML of 2003, xlsb. It is in memory as a whole.
 * @throws EngineError `invalid_upload`, `upload_too_large`
 */
export async function openXls({ file, format, limits }: ReadRequest): Promise<Book> {
  if (format === 'xlsb') await checkArchive(file, limits.unpackedBytes)
  const bytes = await readFile(file)
  checkSectors(bytes)
  const book = parse(bytes)
  const empty = hasEmptyText(book) ? emptyFormulas(bytes) : undefined
  const date1904 = book.Workbook?.WBProps?.date1904 === true
  const sheets = book.SheetNames.flatMap((name, at): Sheet[] => {
    const sheet = book.Sheets[name]
    // Sheets of charts and dialogs have no rows.
    if (!sheet || (sheet['!type'] ?? 'sheet') !== 'sheet') return []
    const rows = (sheet['!data'] ?? []) as readonly (readonly (CellObject | undefined)[] | undefined)[]
    const isHidden = (book.Workbook?.Sheets?.[at]?.Hidden ?? 0) > 0
    const read = (onRow: OnRow) => readRows(rows, date1904, bytes.length, onRow)
    const merged = (sheet['!merges'] ?? []).slice(0, MOST_MERGED).map(({ s, e }) => ({
      ...{ row: s.r + 1, column: s.c },
      ...{ rows: e.r - s.r + 1, columns: e.c - s.c + 1 },
    }))
    return [{ name, isHidden, read, zeroFormulas: empty?.[at] ?? [], exactIntegers: false, merged }]
  })
  if (sheets.length === 0) throw malformed('The workbook has no worksheet.')
  return { sheets, async [Symbol.asyncDispose]() {} }
}

/** How long the library may take: many times as long as it needs. Counts in damaged files may never end. */
const longest = (bytes: number) => 5_000 + Math.ceil(bytes / 50)

const PARSING = {
  dense: true,
  cellNF: true,
  cellHTML: false,
  cellFormula: false,
  cellText: false,
  UTC: true,
} as const

const cellsOf = (sheet: WorkBook['Sheets'][string] | undefined) =>
  ((sheet?.['!data'] ?? []) as readonly (readonly (CellObject | undefined)[] | undefined)[]).flatMap(
    (row = [], at) =>
      row.flatMap((cell, column) => (cell ? { cell, at: `${columnLetters(column)}${at + 1}` } : [])),
  )

/** Whether a cell has an empty text: few programs write one that is no formula's. */
const hasEmptyText = ({ Sheets }: WorkBook) =>
  Object.values(Sheets).some((sheet) => cellsOf(sheet).some(({ cell }) => cell.t === 's' && cell.v === ''))

/**
 * The formulas of each sheet where all of them have an empty text, as programs write them that calculate none. A second
 * reading finds the formulas, which the first one leaves out because they take long.
 */
function emptyFormulas(bytes: Buffer): readonly (readonly string[])[] {
  const book = parse(bytes, { ...PARSING, cellFormula: true })
  return book.SheetNames.map((name) => {
    const formulas = cellsOf(book.Sheets[name]).filter(({ cell }) => cell.f !== undefined)
    return formulas.every(({ cell }) => cell.v === '') ? formulas.map(({ at }) => at) : []
  })
}

function parse(bytes: Buffer, options: ParsingOptions = PARSING): WorkBook {
  const { read } = load('@e965/xlsx') as typeof import('@e965/xlsx')
  try {
    const timeout = longest(bytes.length)
    return runInNewContext('parse()', { parse: () => read(bytes, options) }, { timeout }) as WorkBook
  } catch (error) {
    const { message } = error as Error
    if (/password/i.test(message)) {
      throw malformed('The workbook is protected by a password: remove the password and save it as xlsx.')
    }
    throw malformed(
      'The workbook is damaged, or of a version of Excel that can not be read. Save it as xlsx.',
    )
  }
}

/** Unpacks all entries of an archive within the limits, before the library does so without. */
async function checkArchive(file: string, unpackedBytes: number): Promise<void> {
  await using zip = await ZipReader.open(file, unpackedBytes)
  for (const entry of zip.entries.values()) for await (const _ of zip.read(entry));
}

async function* readRows(
  rows: readonly (readonly (CellObject | undefined)[] | undefined)[],
  date1904: boolean,
  bytes: number,
  onRow: OnRow,
): AsyncGenerator<number> {
  for (const [at, row = []] of rows.entries()) {
    const cells = Array.from(row, (cell, column) => cell && cellOf(cell, column, date1904))
    const found = cells.filter((cell) => cell !== undefined)
    if (found.length > 0) onRow(at + 1, found)
    if (at % ROWS_AT_ONCE === 0) yield bytes
  }
  yield bytes
}

/** The error values of Excel ([MS-XLS], 2.5.10). That for a missing value is none. */
const ERRORS: Readonly<Record<number, string>> = {
  0: '#NULL!',
  7: '#DIV/0!',
  15: '#VALUE!',
  23: '#REF!',
  29: '#NAME?',
  36: '#NUM!',
}
const NOT_AVAILABLE = 42

function cellOf({ t, v, z }: CellObject, column: number, date1904: boolean): SheetCell | undefined {
  switch (t) {
    case 'n':
      return numberCell(column, String(v), numberFormat(String(z ?? '')), date1904)
    case 's':
      return v === '' ? undefined : { column, text: String(v), kind: kindOf(String(v)), isText: true }
    case 'b':
      return { column, text: v ? 'true' : 'false', kind: TEXT_KIND.boolean, isText: false }
    case 'e':
      if (v === NOT_AVAILABLE) return undefined
      return failedFormula(column, ERRORS[Number(v)] ?? String(v))
    default:
      return undefined
  }
}
