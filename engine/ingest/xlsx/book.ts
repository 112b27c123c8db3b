import { posix } from 'node:path'
import type { Entry } from 'yauzl'
import { malformed } from '../text/errors.ts'
import { PERCENT } from '../workbook/book.ts'
import type { ZipReader } from '../zip/zip-reader.ts'
import { attribute, type XmlHandler, XmlReader } from './xml.ts'

/** How a cell shows a number. */
export interface NumberFormat {
  readonly style: NumberStyle
  /** `PERCENT`, or the symbol or code of a currency. */
  readonly unit?: string | undefined
}

/** As what a format shows numbers. `zoned` is the format in which our own exports write UTC timestamps. */
export type NumberStyle = 'number' | 'date' | 'timestamp' | 'zoned' | 'time' | 'duration'

export interface Workbook {
  /** The sheets in the order of their tabs. */
  readonly sheets: readonly { readonly name: string; readonly entry: Entry; readonly isHidden: boolean }[]
  readonly sharedStrings: readonly string[]
  /** The style of numbers, by the index of a cell's style. */
  readonly formats: readonly NumberFormat[]
  /** Whether days are counted from 1904-01-01, as on old Macs. */
  readonly date1904: boolean
  /** Whether formulas are to be calculated when the workbook is opened: until then their values may be placeholders. */
  readonly isUncalculated: boolean
}

const WORKSHEET = /\/worksheet$/
const SHARED_STRINGS = /\/sharedStrings$/
const STYLES = /\/styles$/

/**
 * Reads the parts of a workbook around its sheets (ISO 29500-1, part 18).
 * @throws EngineError `invalid_upload`
 */
export async function readWorkbook(zip: ZipReader): Promise<Workbook> {
  const path = await workbookPath(zip)
  const sheets: { name: string; id: string; isHidden: boolean }[] = []
  let date1904 = false
  let isUncalculated = false
  await parse(zip, path, {
    open(name, attributes) {
      if (name === 'sheet') {
        sheets.push({
          name: attribute(attributes, 'name') ?? '',
          id: attribute(attributes, 'id') ?? '',
          isHidden: /^(hidden|veryHidden)$/.test(attribute(attributes, 'state') ?? ''),
        })
      } else if (name === 'workbookPr') {
        date1904 = /^(1|true)$/.test(attribute(attributes, 'date1904') ?? '')
      } else if (name === 'calcPr') {
        isUncalculated = /^(1|true)$/.test(attribute(attributes, 'fullCalcOnLoad') ?? '')
      }
    },
  })
  const related = await relationships(zip, path)
  const entryOf = (target: string | undefined) => (target === undefined ? undefined : zip.entries.get(target))
  const found = sheets.flatMap(({ name, id, isHidden }) => {
    const relation = related.get(id)
    // Sheets of charts and dialogs have no rows.
    if (relation && !WORKSHEET.test(relation.type)) return []
    const entry = entryOf(relation?.target)
    if (!entry) throw malformed(`The workbook is damaged: its sheet ${JSON.stringify(name)} is missing.`)
    return [{ name, entry, isHidden }]
  })
  if (found.length === 0) throw malformed('The workbook has no worksheet.')
  const only = (type: RegExp) => [...related.values()].find((relation) => type.test(relation.type))?.target
  const strings = entryOf(only(SHARED_STRINGS))
  const styles = entryOf(only(STYLES))
  return {
    sheets: found,
    date1904,
    isUncalculated,
    sharedStrings: strings ? await readSharedStrings(zip, strings) : [],
    formats: styles ? await readFormats(zip, styles) : [],
  }
}

/** Parses an entry from its beginning to its end. */
async function parse(zip: ZipReader, part: Entry | string, handler: XmlHandler): Promise<void> {
  const entry = typeof part === 'string' ? zip.entries.get(part) : part
  if (!entry) throw malformed(`The file is not an xlsx workbook: it has no ${String(part)}.`)
  const reader = new XmlReader(handler)
  for await (const chunk of zip.read(entry)) reader.push(chunk)
  reader.end()
}

async function workbookPath(zip: ZipReader): Promise<string> {
  const root = await relationships(zip, '')
  const main = [...root.values()].find(({ type }) => type.endsWith('/officeDocument'))?.target
  if (main === undefined) throw malformed('The file is not an xlsx workbook.')
  return main
}

function relationshipsOf(part: string): string {
  return posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`)
}

/** The relationships of a part by their ids. Their targets are given as paths in the archive. */
async function relationships(
  zip: ZipReader,
  part: string,
): Promise<Map<string, { type: string; target: string }>> {
  const folder = posix.dirname(part)
  const found = new Map<string, { type: string; target: string }>()
  await parse(zip, relationshipsOf(part), {
    open(name, attributes) {
      if (name !== 'Relationship') return
      const target = attribute(attributes, 'Target') ?? ''
      found.set(attribute(attributes, 'Id') ?? '', {
        type: attribute(attributes, 'Type') ?? '',
        target: target.startsWith('/') ? target.slice(1) : posix.join(folder, target),
      })
    },
  })
  return found
}

/** The cells of a sheet that have notes or comments, once each. @param sheet its path in the archive */
export async function notedCells(zip: ZipReader, sheet: string): Promise<string[]> {
  const cells = new Set<string>()
  if (!zip.entries.has(relationshipsOf(sheet))) return []
  for (const { type, target } of (await relationships(zip, sheet)).values()) {
    if (!/\/(?:comments|threadedComment)$/.test(type) || !zip.entries.has(target)) continue
    await parse(zip, target, {
      open(name, attributes) {
        if (name === 'comment' || name === 'threadedComment') cells.add(attribute(attributes, 'ref') ?? '')
      },
    })
  }
  return [...cells]
}

/** Reads the shared strings. Each is one `si` element; runs of rich text are joined, phonetic hints are left out. */
async function readSharedStrings(zip: ZipReader, entry: Entry): Promise<string[]> {
  const strings: string[] = []
  const text = new TextRuns()
  await parse(zip, entry, {
    open(name) {
      if (name === 'si') text.clear()
      text.open(name)
    },
    close(name) {
      text.close(name)
      if (name === 'si') strings.push(text.value)
    },
    text: (piece) => text.add(piece),
  })
  return strings
}

/** Collects the text of `t` elements, except those within `rPh` elements. */
export class TextRuns {
  #value = ''
  /** Whether there was a `t` element, even an empty one. */
  present = false
  #inText = false
  #inPhonetic = false

  get value(): string {
    // Workbooks write characters that XML can't hold in the form `_x000D_` (ISO 29500-1, 22.9.2.19).
    return this.#value.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
  }

  clear(): void {
    this.#value = ''
    this.present = false
  }

  open(name: string): void {
    if (name === 't') this.present = this.#inText = true
    else if (name === 'rPh') this.#inPhonetic = true
  }

  close(name: string): void {
    if (name === 't') this.#inText = false
    else if (name === 'rPh') this.#inPhonetic = false
  }

  add(piece: string): void {
    if (this.#inText && !this.#inPhonetic) this.#value += piece
  }
}

async function readFormats(zip: ZipReader, entry: Entry): Promise<NumberFormat[]> {
  const codes = new Map<number, string>()
  const formats: NumberFormat[] = []
  let inCellFormats = false
  await parse(zip, entry, {
    open(name, attributes) {
      if (name === 'numFmt') {
        codes.set(Number(attribute(attributes, 'numFmtId')), attribute(attributes, 'formatCode') ?? '')
      } else if (name === 'cellXfs') inCellFormats = true
      else if (name === 'xf' && inCellFormats) {
        const id = Number(attribute(attributes, 'numFmtId') ?? 0)
        const code = codes.get(id)
        formats.push(code === undefined ? builtInFormat(id) : numberFormat(code))
      }
    },
    close(name) {
      if (name === 'cellXfs') inCellFormats = false
    },
  })
  return formats
}

/** A built-in format (ISO 29500-1, 18.8.30). */
function builtInFormat(id: number): NumberFormat {
  return id === 9 || id === 10 ? { style: 'number', unit: PERCENT } : { style: builtInStyle(id) }
}

/** 27 to 36 and 50 to 58 are dates of East Asian locales. */
function builtInStyle(id: number): NumberStyle {
  if (id === 22) return 'timestamp'
  if (id === 46) return 'duration'
  if ((id >= 18 && id <= 21) || id === 45 || id === 47) return 'time'
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 58)) return 'date'
  return 'number'
}

/**
 * What a format code shows, told by its first section without quoted text, escapes, colours and conditions.
 * @param code such as `#,##0.00 [$€-407]`
 */
export function numberFormat(code: string): NumberFormat {
  const zoned = /"Z"\s*$/.test(code)
  const first = code
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .split(';', 1)[0]!
    .toLowerCase()
  if (/\[(h+|m+|s+)\]/.test(first)) return { style: 'duration' }
  const plain = first.replace(/\[[^\]]*\]|general|am\/pm|a\/p/g, '')
  if (/[^ymdhs]*[0#?]/.test(plain) && !/[ydhs]/.test(plain))
    return { style: 'number', unit: plain.includes('%') ? PERCENT : currencyOf(code) }
  const day = /[yd]/.test(plain)
  const clock = /[hs]/.test(plain)
  if (day && clock) return { style: zoned ? 'zoned' : 'timestamp' }
  if (clock) return { style: 'time' }
  return { style: day || plain.includes('m') ? 'date' : 'number' }
}

/** The currency in the first section of a format code, without the characters that it only leaves room for. */
function currencyOf(code: string): string | undefined {
  const [first = ''] = code.replace(/_.|\*./g, '').split(';', 1)
  const named = /\[\$([^\]-]+)/.exec(first)?.[1]?.trim()
  return named || /[A-Z]{0,3}\p{Sc}/u.exec(first.replace(/\[[^\]]*\]/g, ''))?.[0]
}
