import { stat } from 'node:fs/promises'
import { TemporaryFile } from '../util/temporary.ts'
import { LONGEST_RECORD } from './csv/bytes.ts'
import { scanArriving } from './csv/ingest.ts'
import type { EarlyScan } from './csv/tasks.ts'
import { isForeign } from './csv/translate.ts'
import { gunzip } from './gunzip.ts'
import { probeJson } from './json/task.ts'
import type { IngestResult, ReadRequest } from './request.ts'
import { knownColumns } from './targets.ts'
import { type Arrival, arrivalBeyond, arrived, arrivedWhole, newArrival } from './threads/arrival.ts'
import type { Tools } from './tools.ts'

/** So many bytes surely hold the first records of a file as a whole, since none may exceed `LONGEST_RECORD`. */
const BEGINNING = LONGEST_RECORD + (8 << 20)

/**
 * Unpacks a gzip file and reads it. It already looks at the beginning while the rest is unpacked, so that an error at
 * the beginning of a file of gigabytes is reported early.
 */
export async function readPacked(
  tools: Tools,
  request: ReadRequest,
  read: (request: ReadRequest) => Promise<IngestResult>,
): Promise<IngestResult> {
  const giveUp = new AbortController()
  const signal = request.signal ? AbortSignal.any([request.signal, giveUp.signal]) : giveUp.signal
  await using unpacked = new TemporaryFile(request.tempDirectory)
  const arrival = newArrival()
  const onWritten = (bytes: number) => arrived(arrival, bytes)
  const unpacking = gunzip(request.file, unpacked.path, { ...request, signal, onWritten })
  const whole = unpacking.finally(() => arrivedWhole(arrival))
  whole.catch(() => {})
  // From here on the unpacked file is read, whose bytes are not those of the upload: report all of the upload as read.
  const { size } = await stat(request.file)
  const onProgress = ({ rows }: { rows?: number }) => request.onProgress?.({ bytes: size, rows })
  const file = { ...request, file: unpacked.path, signal, onProgress }
  try {
    const early = await begin(tools, file, arrival)
    // The scan ends when the file does, but rejects earlier if it finds an error in the middle of the file.
    await (early ? Promise.all([whole, early.findings]) : whole)
    return await read({ ...file, signal: request.signal, early })
  } catch (error) {
    giveUp.abort()
    // The file may be removed only when nothing writes to it any more.
    await whole.catch(() => {})
    throw error
  }
}

/** Checks the beginning of a large file. Of a csv file, it also starts the scan of the rest, and returns it. */
async function begin(
  { workers }: Tools,
  request: ReadRequest,
  arrival: Arrival,
): Promise<EarlyScan | undefined> {
  await arrivalBeyond(arrival, BEGINNING)
  const { size } = await stat(request.file).catch(() => ({ size: 0 }))
  if (size <= BEGINNING) return undefined
  const { format } = request
  if (isForeign(request.options)) return undefined
  if (format === 'csv' || format === 'tsv') {
    return scanArriving(workers, knownColumns(request.existing, request.declared), request, arrival)
  }
  await probeJson({ ...request, form: format === 'ndjson' ? 'ndjson' : 'json' }, BEGINNING)
  return undefined
}
