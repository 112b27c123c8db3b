import { rm } from 'node:fs/promises'
import type { Duck } from '../../duckdb/duck.ts'
import { EngineError } from '../../errors.ts'
import {
  type Column,
  type ColumnType,
  decimalParts,
  fixedBytes,
  quoteLiteral,
  sqlType,
} from '../../types/index.ts'
import { TemporaryFile } from '../../util/whole-file.ts'
import { inDialect } from '../dialect.ts'
import { feedFile } from '../file.ts'
import { type WrittenPart, writePart } from '../parts/part.ts'
import type { IngestResult, ReadRequest, UploadOptions } from '../request.ts'
import {
  fieldsOf,
  type KnownColumns,
  layColumns,
  settledColumns,
  type Target,
  unnamedIn,
} from '../targets.ts'
import { badTime, roundedNumber } from '../text/errors.ts'
import type { CsvSource, Rewritten } from '../text/rewritten.ts'
import { holdsEmpty, LOCAL, TEXT_KIND, ZONED } from '../text/text-kinds.ts'
import { badTimeIn, inZone, zoneError } from '../text/zones.ts'
import { asText, withTexts } from './column-readers.ts'
import { leftOpen } from './open.ts'
import { CsvScan } from './scan.ts'
import { readHeader, refuseOtherDelimiters, refuseRowAsHeader } from './syntax.ts'
import { toCsv } from './to-csv.ts'

/**
 * Reads csv and tsv in two passes. In the first, our own code checks the shape of the whole file and settles the types
 * of its columns; in the second, DuckDB reads columns of these types and writes the part.
 */
async function ingestPlain(duck: Duck, known: KnownColumns, request: ReadRequest): Promise<IngestResult> {
  const { file, format } = request
  const delimiter = format === 'tsv' ? '\t' : ','
  const { names, end, newline, awkward } = await readHeader(file, delimiter)
  if (format !== 'html') refuseOtherDelimiters(names, known, delimiter)
  refuseRowAsHeader(names, known)
  if (awkward || request.beginning) return ingestRewritten(toCsv, duck, known, request)
  const targets = withTexts(layColumns(known, names), request.readings)
  const scan = new CsvScan(fieldsOf(targets), delimiter, newline, request.options)
  await feedFile(request, end, scan)
  const findings = scan.findings
  if (scan.mixedNewlines) return ingestRewritten(toCsv, duck, known, request)
  const open = leftOpen(targets, findings, request)
  const source = {
    ...findings,
    reasons: findings.reasons.map((reason, at) => open.get(at) ?? reason),
    file,
    delimiter,
    newline: newline === 'crlf' ? newline : 'lf',
    header: true,
  } as const
  return loadCsv(duck, source, asText(targets, open), request)
}

/** Reads csv and tsv in the dialect that the options say, or in the one that the file seems to be in. */
export function ingestCsv(duck: Duck, known: KnownColumns, request: ReadRequest): Promise<IngestResult> {
  return inDialect(
    request,
    async () => (await import('./detect.ts')).detectDialect(request, known),
    (given) => ingestGiven(duck, known, given),
  )
}

/** Reads csv with exactly the options that are given. */
function ingestGiven(duck: Duck, known: KnownColumns, request: ReadRequest): Promise<IngestResult> {
  const { dialect: _, zone: _zone, ...options } = request.options ?? {}
  const isForeign = Object.values(options).some((value) => value !== undefined)
  return isForeign ? ingestRewritten(toCsv, duck, known, request) : ingestPlain(duck, known, request)
}

/** Rewrites an upload of any format as csv that DuckDB reads. */
export type ToCsv = (request: ReadRequest, target: string, known: KnownColumns) => Promise<Rewritten>

/**
 * Reads an upload by rewriting it as csv, which keeps every digit and takes hardly any memory, and then has DuckDB read
 * that. The rewriting also settles the columns and their types.
 */
export async function ingestRewritten(
  toCsv: ToCsv,
  duck: Duck,
  known: KnownColumns,
  request: ReadRequest,
): Promise<IngestResult> {
  await using csv = new TemporaryFile(duck.tempDirectory)
  const { targets, source, warnings: found = [], ...said } = await toCsv(request, csv.path, known)
  const { warnings = [], ...loaded } = await loadCsv(duck, source, targets, request)
  return { ...loaded, ...said, ...saying([...found, ...warnings]) }
}

/** More fields are read by one thread, because each thread holds vectors of all of them, 30 KiB for each. */
const MOST_PARALLEL_FIELDS = 4_000

/** Writes a csv file as a part. The file has been checked: every text in it is a value of its column's type. */
export async function loadCsv(
  duck: Duck,
  source: CsvSource,
  targets: readonly Target[],
  { target, signal, options = {} }: ReadRequest,
): Promise<IngestResult> {
  const columns = settledColumns(targets, source.kinds)
  const rawBytes = rawBytesOf(source, targets, columns)
  const write = async (parallel: boolean) => {
    const select = selectCsv(source, targets, columns, parallel, options)
    const part = await writePart(duck, select, target, { rows: source.rows, rawBytes, columns }, { signal })
    if (isComplete(part, source, targets, columns)) return part
    await rm(target, { force: true })
    throw new EngineError(
      'internal',
      `DuckDB read ${part.rows} rows of csv where there are ${source.rows}, or other nulls.`,
    )
  }
  const parallel = !source.quotedNewlines && source.kinds.length <= MOST_PARALLEL_FIELDS
  const part = await write(parallel)
    .catch((error: unknown) => {
      const machine = error instanceof EngineError && error.code !== 'internal'
      // Several threads of DuckDB guess where records begin, and give up if quotes mislead them. A single thread does not
      // have to guess.
      if (machine || !parallel || !source.quotes) throw error
      return write(false)
    })
    .catch(async (error: unknown) => {
      throw await badTimeOf(duck, error, source, targets, options)
    })
  const reasons = targets.map(({ source: field }) => source.reasons[field ?? -1])
  const warnings = warningsOf(source, targets, columns)
  return { ...part, columns, rawBytes, reasons, ...warnings, unnamed: unnamedIn(targets) }
}

/** Whether DuckDB found as many rows and nulls as the check of the file: it turns some texts into nulls. */
function isComplete(
  part: WrittenPart,
  source: CsvSource,
  targets: readonly Target[],
  columns: readonly Column[],
): boolean {
  const agree = targets.every(({ source: field }, index) => {
    if (field === undefined) return part.nulls[index] === source.rows
    const empties = holdsEmpty(columns[index]!.type) ? 0 : source.empties[field]!
    return part.nulls[index] === source.nulls[field]! + empties
  })
  return part.rows === source.rows && (agree || source.rows === 0)
}

/** What there is to say of values that are not stored with all of their digits. */
export function warningsOf(
  { rounded }: Pick<CsvSource, 'rounded'>,
  targets: readonly Target[],
  columns: readonly Column[],
): Pick<IngestResult, 'warnings'> {
  const warnings = targets.flatMap(({ source: field }, index) => {
    const { name, type } = columns[index]!
    const first = type === 'double' ? rounded[field ?? -1] : undefined
    return first ? [roundedNumber(name, first)] : []
  })
  return saying(warnings)
}

/** Warnings, if there are any. */
function saying(warnings: readonly string[]): Pick<IngestResult, 'warnings'> {
  return warnings.length > 0 ? { warnings } : {}
}

/** About how many bytes all values take. */
export function rawBytesOf(
  source: CsvSource,
  targets: readonly Target[],
  columns: readonly Column[],
): number {
  return targets.reduce((sum, target, index) => {
    const fixed = fixedBytes(columns[index]!.type)
    return sum + (fixed === undefined ? (source.widths[target.source ?? -1] ?? 0) : fixed * source.rows)
  }, 0)
}

/** If our SQL raised this error for a time that a zone does not have once, returns one that names its row. */
async function badTimeOf(
  duck: Duck,
  error: unknown,
  source: CsvSource,
  targets: readonly Target[],
  options: UploadOptions,
): Promise<unknown> {
  const target = targets[badTimeIn(error)]
  if (!target) return error
  const text = `nullif(f${target.source}, '')`
  const { isOnce, fault } = inZone(options, 'CAST(text AS TIMESTAMP)')
  const rows = `(SELECT ${text} AS text, row_number() OVER () AS row FROM ${csvSql(
    source,
    source.kinds.map(() => 'VARCHAR'),
    false,
  )})`
  const [found] = await duck.run(
    `SELECT row, text, ${fault} FROM ${rows} WHERE CASE WHEN ${isLocal('text')} THEN NOT ${isOnce} END ORDER BY row LIMIT 1`,
  )
  return found ? badTime(Number(found[0]), target.name, String(found[1]), String(found[2])) : error
}

/** DuckDB's own limit on a line. Its buffers grow with the limit, so it is raised only for files that need that. */
const USUAL_LINE = 2 * 1024 * 1024
const USUAL_BUFFER = 4 * USUAL_LINE

function selectCsv(
  source: CsvSource,
  targets: readonly Target[],
  columns: readonly Column[],
  parallel: boolean,
  given: UploadOptions,
): string {
  const readAs = source.kinds.map(() => 'VARCHAR')
  const selected = targets.map((target, index) => {
    const { type } = columns[index]!
    if (target.source === undefined) return `CAST(NULL AS ${sqlType(type)}) AS c${index}`
    const { read, sql } = conversion(
      type,
      source.kinds[target.source]!,
      `f${target.source}`,
      given,
      zoneError(index),
    )
    readAs[target.source] = read
    return `${sql} AS c${index}`
  })
  return `SELECT ${selected.join(', ')} FROM ${csvSql(source, readAs, parallel)}`
}

/** A table in SQL whose columns f0, f1, … are read as these types. */
function csvSql(source: CsvSource, readAs: readonly string[], parallel: boolean): string {
  const fields = readAs.map((type, index) => `f${index}: '${type}'`)
  const line = Math.max(USUAL_LINE, source.longest + 1024)
  const options = [
    'auto_detect = false',
    `header = ${source.header}`,
    `delim = ${quoteLiteral(source.delimiter)}`,
    `quote = '"'`,
    `escape = '"'`,
    // Otherwise DuckDB takes the first line end that it finds, even in quotes. It can't be told of CR LF, but finds that.
    ...(source.newline === 'lf' ? ["new_line = '\\n'"] : []),
    `nullstr = ''`,
    'allow_quoted_nulls = false',
    'strict_mode = true',
    `max_line_size = ${line}`,
    `buffer_size = ${Math.max(USUAL_BUFFER, 2 * line)}`,
    `parallel = ${parallel}`,
    `columns = {${fields.join(', ')}}`,
  ]
  return `read_csv(${quoteLiteral(source.file)}, ${options.join(', ')})`
}

/** SQL for the text of a moment, with its seconds. */
const withSeconds = (text: string) => `regexp_replace(${text}, '^(.{16})(Z|[-+].*)$', '\\1:00\\2')`
/** Whether the text of a time has no offset. */
const isLocal = (text: string) => `NOT regexp_matches(${text}, '^.{16}.*[-+Z]')`

const WHOLE_NUMBERS = TEXT_KIND.null | TEXT_KIND.integer | TEXT_KIND.bigInteger | TEXT_KIND.beyondDouble

/** Numbers that may have an exponent. */
const EXPONENTS = TEXT_KIND.exponent | TEXT_KIND.bareExponent | TEXT_KIND.looseNumber

/**
 * The type as which DuckDB's reader parses a field, and the SQL that turns this into a value of the column. Where
 * possible the reader parses the column's type directly, which is faster than a cast from text.
 */
function conversion(
  type: ColumnType,
  kinds: number,
  field: string,
  options: UploadOptions,
  error: string,
): { read: string; sql: string } {
  if (kinds & TEXT_KIND.empty && !holdsEmpty(type)) {
    const others = kinds & ~TEXT_KIND.empty
    const { read } = conversion(type, others, field, options, error)
    return {
      ...conversion(type, others, `CAST(nullif(${field}, '') AS ${read})`, options, error),
      read: 'VARCHAR',
    }
  }
  if (type === 'timestamptz' && options.zone !== undefined && kinds & LOCAL) {
    const { utc, isOnce } = inZone(options, `CAST(${field} AS TIMESTAMP)`)
    const local = `CASE WHEN ${isOnce} THEN CAST(${utc} AS TIMESTAMPTZ) ELSE ${error} END`
    if (!(kinds & ZONED)) return { read: 'VARCHAR', sql: `CASE WHEN ${field} IS NOT NULL THEN ${local} END` }
    const whole = `CAST(${withSeconds(field)} AS TIMESTAMPTZ)`
    return { read: 'VARCHAR', sql: `CASE WHEN ${isLocal(field)} THEN ${local} ELSE ${whole} END` }
  }
  // A cast from text to TIMESTAMP drops the offset, so texts with an offset are read as TIMESTAMPTZ first. DuckDB reads
  // these only with seconds, so texts without seconds get `:00`.
  const zoned = (kinds & ZONED) !== 0 && (type === 'timestamp' || type === 'timestamptz')
  if (zoned) {
    const whole = kinds & TEXT_KIND.timestamptzMinutes ? `CAST(${withSeconds(field)} AS TIMESTAMPTZ)` : field
    return {
      read: kinds & TEXT_KIND.timestamptzMinutes ? 'VARCHAR' : 'TIMESTAMPTZ',
      sql: type === 'timestamp' ? `CAST(${whole} AS TIMESTAMP)` : whole,
    }
  }
  // DuckDB takes a hundred times as long to read a number as a long decimal as it takes for a whole number.
  const decimal = decimalParts(type)
  if (decimal && (kinds & ~WHOLE_NUMBERS) === 0) {
    return { read: 'HUGEINT', sql: `CAST(${field} AS ${sqlType(type)})` }
  }
  // Of 1200e-2, DuckDB wants room for the four digits.
  if (decimal && kinds & EXPONENTS) {
    return { read: `DECIMAL(38,${decimal.scale})`, sql: `CAST(${field} AS ${sqlType(type)})` }
  }
  if (type === 'binary') return { read: 'VARCHAR', sql: `from_base64(${field})` }
  return { read: sqlType(type), sql: field }
}
