import { FileSink, feedFile, readStart } from '../file.ts'
import type { Arrival } from '../threads/arrival.ts'
import type { Hooks } from '../threads/hooks.ts'
import { type CsvFindings, CsvScan, type FieldPlan } from './scan.ts'

export interface ScanCsv {
  readonly file: string
  /** Where the first record behind the header begins. */
  readonly from: number
  readonly delimiter: number
  readonly newline: 'lf' | 'crlf' | 'none'
  readonly fields: readonly FieldPlan[]
}

/** A scan that began before all of its file had arrived. */
export interface EarlyScan {
  readonly scan: ScanCsv
  readonly findings: Promise<CsvFindings>
}

/** Checks all records of a csv file, which may not have arrived completely yet. @throws EngineError `invalid_upload` */
export async function scanCsv(
  task: ScanCsv & { readonly arrival?: Arrival },
  { signal, onProgress }: Hooks,
): Promise<CsvFindings> {
  const scan = new CsvScan(task.fields, task.delimiter, task.newline)
  await feedFile(
    task.file,
    task,
    (buffer, end, final) => scan.feed(buffer, end, final),
    signal,
    (bytes) => onProgress?.({ bytes, rows: scan.rows }),
    task.arrival,
  )
  return scan.findings
}

/**
 * The findings for the beginning of a csv file; undefined if there is an error already. The scan of the whole file will
 * report that error.
 */
export async function sampleCsv(task: ScanCsv, bytes: number): Promise<CsvFindings | undefined> {
  const scan = new CsvScan(task.fields, task.delimiter, task.newline)
  const start = await readStart(task.file, task.from + bytes)
  const records = Buffer.concat([start.subarray(task.from), Buffer.alloc(1)])
  try {
    scan.feed(records, records.length - 1, false)
    return scan.findings
  } catch {
    return undefined
  }
}

/** Copies the records of a checked csv file so that all lines end with LF. */
export async function cleanCsv(
  task: ScanCsv & { readonly target: string },
  { signal }: Hooks,
): Promise<void> {
  const scan = new CsvScan(task.fields, task.delimiter, task.newline, { keepReturns: true })
  const sink = await FileSink.create(task.target)
  try {
    await feedFile(
      task.file,
      task,
      async (buffer, end, final) => {
        const used = scan.feed(buffer, end, final)
        const pieces: Buffer[] = []
        let from = 0
        for (const at of scan.lineEndReturns) {
          pieces.push(buffer.subarray(from, at))
          from = at + 1
        }
        pieces.push(buffer.subarray(from, used))
        await sink.write(Buffer.concat(pieces))
        return used
      },
      signal,
    )
  } finally {
    await sink.close()
  }
}
