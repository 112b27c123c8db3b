import { isUtf8 } from 'node:buffer'
import type { ReadRequest } from '../request.ts'
import type { KnownColumns } from '../targets.ts'
import { malformed, quoteValue } from '../text/errors.ts'
import type { Rewritten } from '../text/rewritten.ts'
import { type Cell, type Dimension, otherCount, readWhole, sizeOf, writeCube } from './cube.ts'

/**
 * Rewrites a file of PC-Axis as csv (PX file format, 2013).
 * @param target where the csv is to be written
 * @throws EngineError `invalid_upload`, `column_conflict`, `upload_too_large`, `storage_full`
 */
export async function toCsv(request: ReadRequest, target: string, known: KnownColumns): Promise<Rewritten> {
  const text = decoded(Buffer.from(await readWhole(request)))
  const { keywords, data } = keywordsOf(text)
  const list = (key: string) => keywords.get(key) ?? []
  if ([...keywords.keys()].some((key) => key.startsWith('KEYS(')))
    throw malformed('The PX file lists its cells by KEYS, which is not supported: save it without them.')
  const dimensions = [...list('STUB'), ...list('HEADING')].map((name): Dimension => {
    const values = list(`VALUES(${name})`)
    const codes = list(`CODES(${name})`)
    if (values.length === 0 || (codes.length > 0 && codes.length !== values.length))
      throw malformed(
        `The PX file has ${values.length} VALUES and ${codes.length} CODES of ${quoteValue(name)}.`,
      )
    return { name: name.trim(), codes: codes.length > 0 ? codes : values, labels: values }
  })
  return writeCube(request, target, known, {
    title: list('DESCRIPTION').join('') || list('TITLE').join(''),
    source: list('SOURCE').join(''),
    dimensions,
    cells: cellsOf(text, data, dimensions),
  })
}

/** Files that call themselves ANSI may be UTF-8; those that name no character set are of DOS. */
function decoded(bytes: Buffer): string {
  const start = bytes.toString('latin1', 0, 10_000)
  const page = /(?:^|;)\s*CODEPAGE\s*=\s*"([^"]*)"/.exec(start)?.[1]
  const label = isUtf8(bytes)
    ? 'utf-8'
    : (page ?? (/(?:^|;)\s*CHARSET\s*=/.test(start) ? 'windows-1252' : 'of DOS'))
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes)
  } catch {
    throw malformed(
      `The PX file has texts that are not UTF-8, in an encoding that is not known (${quoteValue(label)}). Save it in UTF-8.`,
    )
  }
}

const BLANK = /\s*/y
const KEY = /([A-Z][\w-]*)(?:\[([^\]]*)\])?(?:\(((?:[^)"]|"[^"]*")*)\))?\s*=\s*/y
/** Texts between quotes, of which those without a comma between them are one; words and numbers. */
const ITEM = /"[^"]*"|[^\s",;]+/y
const BETWEEN = /[\s,]*/y

/** The keywords in the file's own language, those of a variable with its name; and where the data begin. */
function keywordsOf(text: string): {
  readonly keywords: ReadonlyMap<string, string[]>
  readonly data: number
} {
  const keywords = new Map<string, string[]>()
  let at = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at = pattern.lastIndex
    return found
  }
  for (;;) {
    take(BLANK)
    const key = take(KEY)
    if (!key) throw broken(text, at)
    const [, word = '', language, of] = key
    if (word === 'DATA') return { keywords, data: at }
    const items: string[] = []
    let isNext = true
    for (let item = take(ITEM); item; item = take(ITEM)) {
      const plain = item[0].startsWith('"') ? item[0].slice(1, -1) : item[0]
      if (isNext) items.push(plain)
      else items.push(`${items.pop()}${plain}`)
      isNext = take(BETWEEN)![0].includes(',')
    }
    if (text[at] !== ';') throw broken(text, at)
    at++
    // A variable has its keywords in other languages, too; of those about single values none is needed.
    const name = /^\s*"([^"]*)"\s*$/.exec(of ?? '')?.[1]
    if (language !== undefined || (of !== undefined && name === undefined)) continue
    keywords.set(name === undefined ? word : `${word}(${name})`, items)
  }
}

/** Some offices end each line of the data with a semicolon. */
const VALUE = /[\s,;]*(?:"([^"]*)"|([^\s",;]+))/y
const MISSING = /^(?:\.{1,6}|:)$/
/** Nothing at all was counted (DATASYMBOLNIL of the PX file format): a zero, where others are rounded to one. */
const NIL = '-'

/** The cells in their order: numbers, and signs for those that are missing, or nil. */
function* cellsOf(text: string, from: number, dimensions: readonly Dimension[]): Generator<Cell> {
  const size = sizeOf(dimensions)
  VALUE.lastIndex = from
  let at = 0
  let end = from
  for (let found = VALUE.exec(text); found; found = VALUE.exec(text)) {
    end = VALUE.lastIndex
    const sign = found[1] ?? found[2]!
    if (at < size) {
      if (MISSING.test(sign)) yield { at, value: null, status: sign }
      else yield sign === NIL ? { at, value: '0', status: sign } : { at, value: sign, status: null }
    }
    at++
    VALUE.lastIndex = end
  }
  if (/[^\s;]/.test(text.slice(end))) throw broken(text, end)
  if (at !== size) throw otherCount(at, dimensions)
}

function broken(text: string, at: number): Error {
  const found =
    at < text.length
      ? `there is ${quoteValue(text.slice(at, at + 20))} where a keyword or its value is expected`
      : 'it ends before DATA'
  return malformed(`The PX file is damaged, or cut off: ${found}.`)
}
