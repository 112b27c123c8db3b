import { sessionKey } from '../session.ts'
import { ApiError, authorization, errorFromBody } from './client.ts'
import type { Dataset } from './records.ts'

export interface UploadRequest {
  readonly datasetId: number
  readonly body: Blob
  readonly contentType: string
  readonly gzip: boolean
  /** Add to the rows that are there, or put these in their place. */
  readonly mode: 'replace' | 'append'
  readonly signal: AbortSignal
  /** Share of the bytes sent, 0 to 1. After 1 the server still checks and stores. */
  readonly onProgress: (share: number) => void
}

/**
 * Sends a file as the rows of a dataset. XMLHttpRequest, because fetch says nothing about the progress of a request.
 *
 * @throws ApiError what is wrong with the file, with row and column; an AbortError when `signal` fires
 */
export function upload(request: UploadRequest): Promise<Dataset> {
  return new Promise((resolve, reject) => {
    const transfer = new XMLHttpRequest()
    transfer.open(request.mode === 'replace' ? 'PUT' : 'POST', `/datasets/${request.datasetId}/data`)
    transfer.setRequestHeader('Authorization', authorization(sessionKey() ?? ''))
    transfer.setRequestHeader('Content-Type', request.contentType)
    if (request.gzip) transfer.setRequestHeader('Content-Encoding', 'gzip')
    transfer.upload.onprogress = (event) => {
      if (event.lengthComputable) request.onProgress(event.loaded / event.total)
    }
    transfer.onload = () => {
      if (transfer.status === 200) resolve(JSON.parse(transfer.responseText) as Dataset)
      else reject(errorFromBody(transfer.status, transfer.responseText))
    }
    transfer.onerror = () =>
      reject(
        new ApiError(
          0,
          'unreachable',
          'The connection broke off before the upload was done. Nothing changed.',
        ),
      )
    transfer.onabort = () => reject(new DOMException('The upload was cancelled.', 'AbortError'))
    request.signal.addEventListener('abort', () => transfer.abort())
    transfer.send(request.body)
  })
}
