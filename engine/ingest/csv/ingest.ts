import { rm, stat } from 'node:fs/promises'
import type { Duck } from '../../duckdb/duck.ts'
import { EngineError } from '../../errors.ts'
import { READING, toHttp } from '../../options.ts'
import { type Column, type TypeName, typeName } from '../../types/index.ts'
import { TemporaryFile } from '../../util/temporary.ts'
import { feedFile } from '../file.ts'
import type { IngestResult, ReadRequest } from '../request.ts'
import { type KnownColumns, layColumns, type Target } from '../targets.ts'
import { textReason, withDetails } from '../text/findings.ts'
import { badCell, malformed, quoteValue } from '../text/value-errors.ts'
import { detectDialect } from './detect.ts'
import { readHeader } from './header.ts'
import { loadCsv } from './load.ts'
import { CsvScan, type FieldPlan } from './scan.ts'
import { isForeign, type TranslatedColumn, translateCsv } from './translate.ts'

/**
 * Reads csv and tsv in two passes. In the first, our own code checks the shape of the whole file and settles the types
 * of its columns; in the second, DuckDB reads columns of these types and writes the part.
 */
async function ingestCsv(duck: Duck, known: KnownColumns, request: ReadRequest): Promise<IngestResult> {
  const { file, format, tempDirectory, signal } = request
  const delimiter = format === 'tsv' ? '\t' : ','
  const { names, end, newline, awkward } = await readHeader(file, delimiter)
  if (format === 'csv') refuseOtherDelimiters(names, known)
  const targets = layColumns(names, known)
  const scan = new CsvScan(fieldPlans(names, targets), delimiter.charCodeAt(0), newline)
  await feedFile(
    file,
    end,
    (buffer, bytes, final) => scan.feed(buffer, bytes, final),
    signal,
    (bytes) => request.onProgress?.({ bytes, rows: scan.rows }),
  )
  const { mixedNewlines, ...findings } = scan.findings
  const source = { ...findings, file, delimiter, fields: names.length, header: true }
  if (!mixedNewlines && !awkward) {
    return loadCsv(duck, { ...source, newline: newline === 'crlf' ? newline : 'lf' }, targets, request)
  }
  // DuckDB's reader takes such a file only if it is written anew. Then more fields may have quotes.
  await using ours = new TemporaryFile(tempDirectory)
  await translateCsv({ file, delimiter, options: {}, target: ours.path }, { signal })
  const longest = 2 * (source.longest + names.length)
  const written = { file: ours.path, delimiter: ',', newline: 'lf', quotes: true, longest } as const
  return await loadCsv(duck, { ...source, ...written }, targets, request)
}

/**
 * Does the same for csv in any dialect: one that is not ours is first rewritten as ours. Whether a column has texts is
 * known only afterwards; if some of them looked like numbers or dates, the file is rewritten again without changing them.
 */
export async function ingestDialect(
  duck: Duck,
  known: KnownColumns,
  request: ReadRequest,
): Promise<IngestResult> {
  const { options = {}, format, file } = request
  if (options.dialect !== 'auto') {
    return ingestGiven(duck, known, request).catch(async (error: unknown) => {
      throw await withAutoHint(error, duck, known, request)
    })
  }
  const chosen = await detectDialect(file, format, options)
  try {
    return { ...(await ingestGiven(duck, known, { ...request, options: chosen })), options: chosen }
  } catch (error) {
    throw error instanceof EngineError ? withDetails(error, { options: chosen }) : error
  }
}

/** Files up to this size are read once more to see whether `dialect=auto` would have read them. */
const TRIED_BYTES = 16 * 1024 * 1024

/** The error, which says so if `dialect=auto` would have avoided it. */
async function withAutoHint(error: unknown, duck: Duck, known: KnownColumns, request: ReadRequest) {
  const { file, format, options = {}, target, signal } = request
  const isOfFile = error instanceof EngineError && ['invalid_upload', 'column_conflict'].includes(error.code)
  if (!isOfFile || options.dialect || signal?.aborted || (await stat(file)).size > TRIED_BYTES) return error
  const chosen = await detectDialect(file, format, options)
  const added = toHttp(
    Object.fromEntries(Object.entries(chosen).filter(([name]) => !(name in options))),
    READING,
  )
  if (Object.keys(added).length === 0) return error
  try {
    await ingestGiven(duck, known, { ...request, options: chosen })
    await rm(target)
    return withDetails(
      error,
      {},
      `${error.message} dialect=auto would read the file, with ${new URLSearchParams(added as Record<string, string>)}.`,
    )
  } catch {
    return error
  }
}

/** Reads csv with exactly the options that are given. */
async function ingestGiven(duck: Duck, known: KnownColumns, request: ReadRequest): Promise<IngestResult> {
  const { options, format, file, target, tempDirectory } = request
  if (!options || !isForeign(options)) return ingestCsv(duck, known, request)
  const settled = known.existing ?? known.declared ?? []
  const columns = settled.map(({ name }) => name)
  const numbers = settled.flatMap(({ name, type }) => (NUMBERS.has(typeName(type)) ? [name] : []))
  const ingest = async (texts: readonly number[]) => {
    await using ours = new TemporaryFile(tempDirectory)
    const delimiter = format === 'tsv' ? '\t' : ','
    const task = { file, options, columns, delimiter, texts, numbers, target: ours.path }
    const translated = await translateCsv(task, request).catch(async (error: unknown) => {
      if (!(error instanceof EngineError && error.details?.['trailing'])) throw error
      await rm(ours.path, { force: true })
      return translateCsv({ ...task, trailing: true }, request)
    })
    const result = await ingestCsv(duck, pointedAsText(known, translated), {
      ...request,
      format: 'csv',
      file: ours.path,
    })
    return { translated, result }
  }
  const { translated, result } = await ingest([])
  const ofText = new Set(result.columns.filter(({ type }) => type === 'string').map(({ name }) => name))
  const reasons = columnReasons(result, translated)
  const texts = translated
    .filter(({ name, rewritten }) => rewritten && ofText.has(name))
    .map(({ index }) => index)
  if (texts.length === 0) return { ...result, reasons }
  await rm(target, { force: true })
  return { ...(await ingest(texts)).result, reasons }
}

/** Why columns are text. A number that is none in this dialect is told as the file has it. */
function columnReasons({ columns, reasons = [] }: IngestResult, translated: readonly TranslatedColumn[]) {
  const pointed = new Map(translated.map(({ name, pointed }) => [name, pointed]))
  return columns.map(({ name, type }, index) => {
    const point = type === 'string' ? pointed.get(name) : undefined
    return point ? textReason(point.row, point.text) : reasons[index]
  })
}

const NUMBERS: ReadonlySet<TypeName> = new Set<TypeName>(['integer', 'double', 'decimal'])

/** Columns with numbers that have a point, which are none in this dialect, are text unless their type is known. */
function pointedAsText(known: KnownColumns, columns: readonly TranslatedColumn[]): KnownColumns {
  const types = new Map((known.existing ?? known.declared)?.map(({ name, type }) => [name, type]))
  const texts: Column[] = []
  for (const { name, pointed } of columns) {
    if (!pointed) continue
    const type = types.get(name)
    if (type === undefined) texts.push({ name, type: 'string', nullable: true, description: '' })
    else if (NUMBERS.has(typeName(type))) {
      throw badCell(
        pointed.row,
        name,
        `${quoteValue(pointed.text)} has a point, but decimal=, says that numbers have a comma. If it is between ` +
          'thousands, add thousands=. as well.',
        { type },
      )
    }
  }
  if (texts.length === 0 || known.existing) return known
  return { ...known, declared: [...(known.declared ?? []), ...texts] }
}

/** The type and nullability of each field of a record, in the order of the header. */
function fieldPlans(names: readonly string[], targets: readonly Target[]): FieldPlan[] {
  const targetOf = new Map(targets.map((target) => [target.source, target]))
  return names.map((name, index) => {
    const target = targetOf.get(index)!
    return { name, type: target.type, nullable: target.nullable }
  })
}

/**
 * Refuses a header of a single name that holds another delimiter, such as a semicolon: the file was meant to have more
 * columns. The name is accepted if the dataset or the request has a column of this name.
 */
function refuseOtherDelimiters(names: readonly string[], known: KnownColumns): void {
  const [name] = names
  if (names.length !== 1 || !/[;\t|]/.test(name!)) return
  if ([...(known.existing ?? []), ...(known.declared ?? [])].some((column) => column.name === name)) return
  const found = /[;\t|]/.exec(name!)![0]
  throw malformed(
    `The header ${quoteValue(name!)} has no comma, but it has ${quoteValue(found)}: fields of csv are separated by commas` +
      (found === '\t'
        ? '; upload tabs as tab-separated values.'
        : `, unless delimiter=${found} says otherwise.`),
  )
}
