import { rm, stat } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Column, type TypeName, typeName } from '../../types/index.ts'
import { TemporaryFile } from '../../util/temporary.ts'
import type { IngestResult, ReadRequest } from '../request.ts'
import { type KnownColumns, layColumns, type Target } from '../targets.ts'
import { malformed, quoteValue } from '../text/value-errors.ts'
import type { Arrival } from '../threads/arrival.ts'
import type { Workers } from '../threads/workers.ts'
import type { Tools } from '../tools.ts'
import { readHeader } from './header.ts'
import { type CsvSource, loadCsv, planLoad, runLoad, selectCsv, settleLoad } from './load.ts'
import type { CsvFindings, FieldPlan } from './scan.ts'
import { type EarlyScan, type ScanCsv, sampleCsv } from './tasks.ts'
import { isForeign, type TranslatedColumn } from './translate.ts'

/**
 * Reads csv and tsv in two passes. In the first, our own code checks the shape of the whole file and settles the types
 * of its columns; in the second, DuckDB reads columns of these types and writes the part.
 */
async function ingestCsv(tools: Tools, known: KnownColumns, request: ReadRequest): Promise<IngestResult> {
  const { file, tempDirectory, signal } = request
  const { header, targets, scan } = await planScan(known, request)
  const delimiter = String.fromCharCode(scan.delimiter)
  const sourceOf = (findings: CsvFindings, path = file): CsvSource => {
    const given = path === file
    const newline = given && header.newline === 'crlf' ? 'crlf' : 'lf'
    return { ...findings, files: [path], delimiter, newline, fields: header.names.length, header: given }
  }
  const [findings, early] = await scanAndGuess(tools, scan, targets, sourceOf, request)
  if (early) return early
  if (!findings.mixedNewlines && !header.awkward) {
    return loadCsv(tools.duck, sourceOf(findings), targets, request)
  }
  await using clean = new TemporaryFile(tempDirectory)
  await tools.workers.run({ kind: 'clean-csv', ...scan, target: clean.path }, { signal })
  return await loadCsv(tools.duck, sourceOf(findings, clean.path), targets, request)
}

/**
 * Does the same for csv in any dialect: one that is not ours is first rewritten as ours. Whether a column has texts is
 * known only afterwards; if some of them looked like numbers or dates, the file is rewritten again without changing them.
 */
export async function ingestDialect(
  tools: Tools,
  known: KnownColumns,
  request: ReadRequest,
): Promise<IngestResult> {
  const { options, format, file, target, tempDirectory, signal, onProgress } = request
  if (!options || !isForeign(options)) return ingestCsv(tools, known, request)
  const settled = known.existing ?? known.declared ?? []
  const columns = settled.map(({ name }) => name)
  const numbers = settled.flatMap(({ name, type }) => (NUMBERS.has(typeName(type)) ? [name] : []))
  const ingest = async (texts: readonly number[]) => {
    await using ours = new TemporaryFile(tempDirectory)
    const delimiter = format === 'tsv' ? '\t' : ','
    const task = {
      kind: 'translate-csv',
      file,
      options,
      columns,
      delimiter,
      texts,
      numbers,
      target: ours.path,
    } as const
    const translated = await tools.workers.run(task, { signal, onProgress })
    const result = await ingestCsv(tools, pointedAsText(known, translated), {
      ...request,
      format: 'csv',
      file: ours.path,
      early: undefined,
    })
    return { translated, result }
  }
  const { translated, result } = await ingest([])
  const ofText = new Set(result.columns.filter(({ type }) => type === 'string').map(({ name }) => name))
  const texts = translated
    .filter(({ name, rewritten }) => rewritten && ofText.has(name))
    .map(({ index }) => index)
  if (texts.length === 0) return result
  await rm(target, { force: true })
  return (await ingest(texts)).result
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
      const { row, text } = pointed
      throw malformed(
        `Row ${row}, column ${JSON.stringify(name)}: ${quoteValue(text)} has a point, but decimal=, says that numbers ` +
          'have a comma. Numbers are written without a character between thousands.',
        { row, column: name, type },
      )
    }
  }
  if (texts.length === 0 || known.existing) return known
  return { ...known, declared: [...(known.declared ?? []), ...texts] }
}

/** Starts the scan of a file that still arrives. @throws EngineError as `ingestCsv` does */
export async function scanArriving(
  workers: Workers,
  known: KnownColumns,
  request: Pick<ReadRequest, 'file' | 'format' | 'signal' | 'onProgress'>,
  arrival: Arrival,
): Promise<EarlyScan> {
  const { scan } = await planScan(known, request)
  const findings = workers.run({ kind: 'scan-csv', ...scan, arrival }, request)
  // The scan may fail long before anybody awaits it, and Node would end the process if nothing handled that.
  findings.catch(() => {})
  return { scan, findings }
}

/** Reads the header, and plans which fields the records behind it have to have. */
async function planScan(known: KnownColumns, { file, format }: Pick<ReadRequest, 'file' | 'format'>) {
  const delimiter = (format === 'tsv' ? '\t' : ',').charCodeAt(0)
  const header = await readHeader(file, delimiter)
  if (format === 'csv') refuseOtherDelimiters(header.names, known)
  const targets = layColumns(header.names, known)
  const fields = fieldPlans(header.names, targets)
  const scan: ScanCsv = { file, from: header.end, delimiter, newline: header.newline, fields }
  return { header, targets, scan }
}

/** From this file size on, DuckDB begins to load before the scan has seen the whole file. */
const GUESS_BYTES = 8 * 1024 * 1024
const SAMPLE_BYTES = 1024 * 1024

/**
 * Scans the whole file. While that goes on, DuckDB already loads it with the types that its beginning suggests. The
 * part that DuckDB writes is kept only if the scan ends with exactly the same plan.
 */
async function scanAndGuess(
  { duck, workers }: Tools,
  scan: ScanCsv,
  targets: readonly Target[],
  sourceOf: (findings: CsvFindings) => CsvSource,
  request: ReadRequest,
): Promise<[CsvFindings, IngestResult | undefined]> {
  const { file, target, signal, onProgress, early } = request
  const scanAll = () => {
    // Findings are of no use if the early scan was made for other columns than these.
    if (early && isDeepStrictEqual(early.scan, scan)) return early.findings
    return workers.run({ kind: 'scan-csv', ...scan }, { signal, onProgress })
  }
  const { size } = await stat(file)
  const sample = size < GUESS_BYTES ? undefined : await sampleCsv(scan, SAMPLE_BYTES)
  if (!sample || sample.rows === 0 || sample.mixedNewlines || sample.quotedNewlines) {
    return [await scanAll(), undefined]
  }
  const giveUp = new AbortController()
  const guess = planLoad(sourceOf(sample), targets)
  const loading = runLoad(duck, guess, true, { target, signal: anySignal(signal, giveUp.signal) }).catch(
    () => undefined,
  )
  try {
    const findings = await scanAll()
    const plan = planLoad(sourceOf(findings), targets)
    const same =
      !findings.mixedNewlines && !findings.quotedNewlines && selectCsv(plan, true) === selectCsv(guess, true)
    if (!same) giveUp.abort()
    const part = await loading
    const result = same && part ? settleLoad(plan, part) : undefined
    if (part && !result) await rm(target, { force: true })
    return [findings, result]
  } catch (error) {
    giveUp.abort()
    if (await loading) await rm(target, { force: true })
    throw error
  }
}

function anySignal(one: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  return one ? AbortSignal.any([one, other]) : other
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
