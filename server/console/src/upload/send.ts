import { endIfRefused } from '../api.ts'

/**
 * A `fetch` that reports the progress of uploads. It uses XMLHttpRequest, because `fetch` can't report that.
 *
 * @param onProgress share of the bytes sent, 0 to 1; at 1 the server still has to check and store the rows
 */
export function fetchWithProgress(onProgress: (share: number) => void): typeof fetch {
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.open(init.method ?? 'GET', String(input))
      new Headers(init.headers).forEach((value, name) => {
        request.setRequestHeader(name, value)
      })
      request.upload.onprogress = (event) => {
        if (event.lengthComputable) onProgress(event.loaded / event.total)
      }
      request.onload = () => resolve(endIfRefused(answerOf(request)))
      request.onerror = () => reject(new TypeError('The connection broke off.'))
      request.onabort = () => reject(init.signal?.reason)
      init.signal?.addEventListener('abort', () => request.abort())
      request.send(init.body as XMLHttpRequestBodyInit | null)
    })
}

function answerOf(request: XMLHttpRequest): Response {
  const headers = new Headers()
  for (const line of request.getAllResponseHeaders().trim().split('\r\n')) {
    const colon = line.indexOf(': ')
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 2))
  }
  const empty = request.status === 204 || request.status === 304
  return new Response(empty ? null : request.responseText, { status: request.status, headers })
}
