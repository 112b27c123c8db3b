import type { Field } from '../csv.ts'
import { PreviewError } from './model.ts'
import { entryText, type ZipEntry, zipEntries } from './zip.ts'

interface Sheet {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Field[])[]
  readonly whole: boolean
}

const HEAD = 1 << 20
const STRINGS_HEAD = 4 << 20

/** The names of a workbook's sheets, in the order of their tabs. */
export async function sheetNames(file: File): Promise<string[]> {
  return (await sheetsOf(file, await zipEntries(file))).map(({ name }) => name)
}

/**
 * Reads the first rows of a sheet. Numbers are shown as dates if the style of their cell says so.
 * @param wanted the name of the sheet; the first one by default
 * @throws PreviewError
 */
export async function previewSheet(file: File, wanted?: string): Promise<Sheet> {
  let entries: ZipEntry[]
  try {
    entries = await zipEntries(file)
  } catch {
    throw new PreviewError(`${file.name} is not an Excel workbook (.xlsx).`)
  }
  const sheets = await sheetsOf(file, entries)
  const sheet = wanted === undefined ? sheets[0] : sheets.find(({ name }) => name === wanted)
  // The server looks for sheets in more places.
  if (!sheet) throw new Error(`${file.name} has no sheet where programs usually write it.`)
  const strings = await sharedStrings(file, entries)
  const dates = await dateStyles(file, entries)
  const { text, whole } = await entryText(file, sheet.entry, HEAD)
  const [header, ...rows] = [...text.matchAll(/<row\b[^>]*?(?:\/>|>(.*?)<\/row>)/gs)].map((row) =>
    readRow(row[1] ?? '', strings, dates),
  )
  if (!header) {
    throw new PreviewError(
      `The sheet “${sheet.name}” is empty: its first row has to hold the names of the columns.`,
    )
  }
  return { columns: header.map((name) => name ?? ''), rows, whole }
}

/** The sheets with cells, in the order of their tabs; those of charts and dialogs have none. */
async function sheetsOf(
  file: File,
  entries: readonly ZipEntry[],
): Promise<{ readonly name: string; readonly entry: ZipEntry }[]> {
  const entryOf = (name: string) => entries.find((entry) => entry.name === name)
  const textIn = async (name: string) => {
    const entry = entryOf(name)
    return entry ? (await entryText(file, entry, HEAD)).text : ''
  }
  const relations = (await textIn('xl/_rels/workbook.xml.rels')).matchAll(/<(?:\w+:)?Relationship\b[^>]*>/g)
  const targets = new Map(
    [...relations].map(([tag]) => [attribute(tag, 'Id'), attribute(tag, 'Target') ?? '']),
  )
  const tags = (await textIn('xl/workbook.xml')).matchAll(/<(?:\w+:)?sheet\b[^>]*>/g)
  return [...tags].flatMap(([tag]) => {
    const target = targets.get(attribute(tag, '\\w+:id')) ?? ''
    const entry = entryOf(target.startsWith('/') ? target.slice(1) : `xl/${target}`)
    return entry && /worksheets\//.test(target) ? [{ name: attribute(tag, 'name') ?? '', entry }] : []
  })
}

function readRow(xml: string, strings: readonly string[], dates: ReadonlySet<number>): Field[] {
  const fields: Field[] = []
  for (const cell of xml.matchAll(/<c\b([^>]*?)(?:\/>|>(.*?)<\/c>)/gs)) {
    const at = columnIndex(attribute(cell[1]!, 'r')) ?? fields.length
    while (fields.length < at) fields.push(null)
    fields.push(cellText(cell[1]!, cell[2] ?? '', strings, dates))
  }
  return fields
}

function cellText(
  attributes: string,
  inner: string,
  strings: readonly string[],
  dates: ReadonlySet<number>,
): Field {
  const type = attribute(attributes, 't')
  if (type === 'inlineStr') return textOf(inner)
  const value = /<v[^>]*>(.*?)<\/v>/s.exec(inner)?.[1]
  if (value === undefined) return null
  if (type === 's') return strings[Number(value)] ?? '…'
  if (type === 'b') return /^(1|true)$/i.test(value) ? 'true' : 'false'
  if (type === 'str' || type === 'e' || type === 'd') return unescapeXml(value)
  return dates.has(Number(attribute(attributes, 's') ?? -1)) ? serialDate(Number(value)) : value
}

/** Converts days since 1899-12-30, whose fraction is the time of day. */
function serialDate(serial: number): string {
  const text = new Date(Math.round(serial * 86_400) * 1000 - 2_209_161_600_000).toISOString()
  return Number.isInteger(serial) ? text.slice(0, 10) : text.slice(0, 19)
}

async function sharedStrings(file: File, entries: readonly ZipEntry[]): Promise<string[]> {
  const entry = entries.find(({ name }) => name === 'xl/sharedStrings.xml')
  if (!entry) return []
  const { text } = await entryText(file, entry, STRINGS_HEAD)
  return [...text.matchAll(/<si>(.*?)<\/si>/gs)].map((item) => textOf(item[1]!) ?? '')
}

/** The indices of the cell styles that show dates. */
async function dateStyles(file: File, entries: readonly ZipEntry[]): Promise<Set<number>> {
  const entry = entries.find(({ name }) => name === 'xl/styles.xml')
  if (!entry) return new Set()
  const { text } = await entryText(file, entry, HEAD)
  const ours = new Set<string>()
  for (const format of text.matchAll(/<numFmt\b[^>]*>/g)) {
    const code = (attribute(format[0], 'formatCode') ?? '').replace(/\[[^\]]*\]|"[^"]*"/g, '')
    if (/[dmyhs]/i.test(code)) ours.add(attribute(format[0], 'numFmtId') ?? '')
  }
  const styles = /<cellXfs\b[^>]*>(.*?)<\/cellXfs>/s.exec(text)?.[1] ?? ''
  const dates = new Set<number>()
  for (const [at, style] of [...styles.matchAll(/<xf\b[^>]*>/g)].entries()) {
    const format = attribute(style[0], 'numFmtId') ?? ''
    const builtIn = Number(format)
    if (ours.has(format) || (builtIn >= 14 && builtIn <= 22) || (builtIn >= 45 && builtIn <= 47))
      dates.add(at)
  }
  return dates
}

function textOf(xml: string): Field {
  return [...xml.matchAll(/<t\b[^>]*>(.*?)<\/t>/gs)].map((part) => unescapeXml(part[1]!)).join('')
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16))
    if (decimal) return String.fromCodePoint(Number(decimal))
    return ENTITIES[name] ?? whole
  })
}

function attribute(xml: string, name: string): string | undefined {
  const value = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(xml)?.[1]
  return value === undefined ? undefined : unescapeXml(value)
}

/** 0 for A1, 27 for AB7. */
function columnIndex(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]+/.exec(reference ?? '')?.[0]
  if (!letters) return undefined
  let index = 0
  for (const letter of letters) index = index * 26 + letter.charCodeAt(0) - 64
  return index - 1
}
