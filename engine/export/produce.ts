import { EngineError } from '../errors.ts'
import { hasDictionaries } from '../parquet/footer.ts'
import { footerOf } from '../parquet/parquet-file.ts'
import type { Page } from '../plan/page.ts'
import type { Plan } from '../plan/plan.ts'
import type { Run } from '../reading/runs.ts'
import type { Format } from '../types/index.ts'
import type { ByteStream } from './byte-stream.ts'
import type { Strategy } from './choose.ts'
import { type EncodeOptions, encodeOptions } from './formats/encoder.ts'
import type { EncodedFormat } from './formats/index.ts'

interface ProduceOptions extends EncodeOptions {
  /** The window as a page of a statement that goes on. */
  readonly page?: Page | undefined
}

/** Bytes, and how many rows the statement gave, if that is known before they are read. */
interface Produced {
  readonly stream: ByteStream
  readonly found?: number
}

/** Produces bytes by the strategy that was chosen. Resolves when the first of them are there. */
export async function produce(run: Run, format: Format, options: ProduceOptions): Promise<Produced> {
  const { strategy, executor, statement, start, reading } = run
  if (format === 'parquet') {
    const { encoding, metadata } = options
    let signed: Promise<boolean> | undefined
    const signedZeros = () => (signed ??= readsNegativeZeros(run.plan))
    const writing = { ...start, encoding, signedZeros, ...(metadata && { metadata }) }
    const copied = strategy.kind === 'copied' && (await executor.copied(strategy.copies, writing))
    return { stream: copied || (await executor.parquet(statement, writing)) }
  }
  if (format === 'xlsx') await checkSheet(run, options)
  if (strategy.kind === 'few') return few(run, strategy, format, options)
  const page = options.page && { ...options.page, hold: () => reading.hold() }
  return {
    stream: await executor.stream(statement, format, { ...start, ...encodingOf(strategy, options), page }),
  }
}

/** Whether stored doubles are read that may be -0: parts with one have no dictionaries (`ingest/parts/part.ts`). */
async function readsNegativeZeros({ scan, columns }: Plan): Promise<boolean> {
  const doubles = columns.filter(({ type, stored }) => type === 'double' && stored !== undefined)
  if (scan.kind !== 'slices' || doubles.length === 0) return false
  for (const { file } of scan.slices) {
    if (!hasDictionaries((await footerOf(file)).footer)) return true
  }
  return false
}

/** @throws EngineError `not_representable` */
async function checkSheet(
  { executor, statement, start: { signal } }: Run,
  { overlong }: EncodeOptions,
): Promise<void> {
  const { xlsxProblem } = await import('./formats/xlsx/problem.ts')
  const problem = await xlsxProblem(executor, statement, { signal, overlong })
  if (problem) throw new EngineError('not_representable', problem)
}

async function few(
  { executor, statement, start, located, reading }: Run,
  strategy: Extract<Strategy, { kind: 'few' }>,
  format: EncodedFormat,
  options: EncodeOptions,
): Promise<Produced> {
  const most = strategy.counting?.wanted
  const { stream, found } = await executor.few(statement, format, {
    ...start,
    ...encodingOf(strategy, options),
    most,
  })
  // A number is remembered only if it is that of the rows that were written.
  await reading.whole
  return { stream, found: located ?? found }
}

function encodingOf(strategy: Run['strategy'], options: EncodeOptions): EncodeOptions {
  const numbers = 'numbers' in strategy ? strategy.numbers : undefined
  return { ...encodeOptions(options), ...(numbers && { numbers }) }
}
