import type { Format, Question } from '../../../client/index.ts'
import { api } from '../api.ts'

export interface DownloadProgress {
  readonly bytes: number
  /** Lines seen so far, where the format has lines. */
  readonly rows: number | undefined
}

const LINE_FORMATS = new Set<Format>(['csv', 'tsv', 'ndjson'])
const COMPACT_AT = 8 * 2 ** 20

/**
 * Fetches a query in a format and hands the file to the browser. The answer is read as it comes; pieces are gathered
 * into Blobs, which the browser may keep on disk, so the tab's memory does not grow with the file.
 *
 * @throws ParquetryError when it is refused or breaks off; an AbortError when `signal` fires
 */
export async function download(
  datasetId: number,
  question: Question,
  format: Format,
  fileName: string,
  options: { readonly signal: AbortSignal; readonly onProgress: (progress: DownloadProgress) => void },
): Promise<number> {
  const answer = await api().datasets.download(datasetId, format, { ...question, signal: options.signal })
  const blobs: Blob[] = []
  let pieces: Uint8Array<ArrayBuffer>[] = []
  let pending = 0
  let bytes = 0
  let lines = 0

  for await (const piece of answer) {
    pieces.push(piece as Uint8Array<ArrayBuffer>)
    pending += piece.length
    bytes += piece.length
    if (LINE_FORMATS.has(format)) lines += countLines(piece)
    if (pending >= COMPACT_AT) {
      blobs.push(new Blob(pieces))
      pieces = []
      pending = 0
    }
    options.onProgress({ bytes, rows: LINE_FORMATS.has(format) ? lines : undefined })
  }
  saveBlob(new Blob([...blobs, ...pieces], { type: answer.contentType }), fileName)
  return bytes
}

/** Hands a file that is in memory to the browser's downloads. */
export function saveBlob(blob: Blob, fileName: string): void {
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = fileName
  link.click()
  // The browser reads the address after the click returns.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

function countLines(piece: Uint8Array): number {
  let lines = 0
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines += 1
  return lines
}
