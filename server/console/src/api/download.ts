import { send } from './client.ts'
import { dataPath, type Format, type RowQuery } from './rows.ts'

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
 * @throws ApiError when it is refused or breaks off; an AbortError when `signal` fires
 */
export async function download(
  datasetId: number,
  query: RowQuery,
  format: Format,
  fileName: string,
  options: { readonly signal: AbortSignal; readonly onProgress: (progress: DownloadProgress) => void },
): Promise<number> {
  const response = await send(dataPath(datasetId, query, format), { signal: options.signal })
  const type = response.headers.get('Content-Type') ?? 'application/octet-stream'
  const name = nameOf(response.headers.get('Content-Disposition')) ?? fileName
  const blobs: Blob[] = []
  let pieces: Uint8Array<ArrayBuffer>[] = []
  let pending = 0
  let bytes = 0
  let lines = 0

  for await (const piece of piecesOf(response)) {
    pieces.push(piece)
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
  saveBlob(new Blob([...blobs, ...pieces], { type }), name)
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

async function* piecesOf(response: Response): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = response.body!.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function countLines(piece: Uint8Array): number {
  let lines = 0
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines += 1
  return lines
}

/** The file name of a Content-Disposition header; the extended form of RFC 6266 wins. */
export function nameOf(disposition: string | null): string | undefined {
  if (disposition === null) return undefined
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1]
  if (extended !== undefined) {
    try {
      return decodeURIComponent(extended.trim())
    } catch {
      return undefined
    }
  }
  const plain = /filename="((?:[^"\\]|\\.)*)"/i.exec(disposition)?.[1]
  return plain?.replace(/\\(.)/g, '$1')
}
