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

/** With this much of a file there is nothing of its beginning that isn't there. */
const BEGINNING = LONGEST_RECORD + (8 << 20)

/**
 * Unpacks a gzip file and reads it, looking at what is there while the rest is unpacked: what is wrong with the
 * beginning of a file of gigabytes is told when the beginning is there.
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
  // What is left to be read is not part of the upload as it came.
  const { size } = await stat(request.file)
  const onProgress = ({ rows }: { rows?: number }) => request.onProgress?.({ bytes: size, rows })
  const file = { ...request, file: unpacked.path, signal, onProgress }
  try {
    const early = await begin(tools, file, arrival)
    // The scan ends with the file, unless there is something wrong in the middle of it.
    await (early ? Promise.all([whole, early.findings]) : whole)
    return await read({ ...file, signal: request.signal, early })
  } catch (error) {
    giveUp.abort()
    // Nothing writes to the file any more when it is removed.
    await whole.catch(() => {})
    throw error
  }
}

/** Looks at the beginning of a large file; csv is scanned on from there. */
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
