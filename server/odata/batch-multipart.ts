import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { ODataError } from './errors.ts'

/** A request of a batch (OData JSON Format 4.01, 19.1). */
export interface BatchRequest {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly dependsOn: readonly string[]
}

export interface BatchAnswer {
  readonly id: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | undefined
  /** Whether the text is JSON. */
  readonly isJson: boolean
}

/** The boundary in the content type of a batch in multipart format; undefined for another content type. */
export function boundaryIn(contentType: string | undefined): string | undefined {
  const [, quoted, plain] =
    /^multipart\/mixed\s*;.*?\bboundary\s*=\s*(?:"([^"]+)"|([^\s;]+))/i.exec(contentType ?? '') ?? []
  return quoted ?? plain
}

/**
 * The requests of a batch in multipart format (OData 4.01 Protocol, 11.7.7). A change set becomes one request, the first
 * of its own, which is refused because it writes.
 * @throws ODataError 400
 */
export function requestsIn(body: string, boundary: string): BatchRequest[] {
  return partsOf(body, boundary).map((part, index) => {
    const [head, content] = cut(part)
    const headers = headersIn(head)
    const inner = boundaryIn(headers['content-type'])
    const [first = ''] = inner === undefined ? [content] : partsOf(content, inner).map((one) => cut(one)[1])
    const [request, payload] = cut(first.replace(/^\s+/, ''))
    const [line = '', ...rest] = request.split(/\r?\n/)
    const [, method, url] = /^([A-Za-z]+) +(\S+)(?: +HTTP\/1\.1)?\s*$/.exec(line) ?? []
    if (method === undefined) {
      throw new ODataError(
        'badRequest',
        `Part ${index + 1} of the batch must begin with a request line, as GET Table?$top=5 HTTP/1.1.`,
      )
    }
    return {
      id: headers['content-id'] ?? '',
      method: method.toUpperCase(),
      url: url!,
      headers: headersIn(rest.join('\n')),
      body: payload.trimEnd() === '' ? undefined : payload,
      dependsOn: [],
    }
  })
}

/** The answers of a batch in multipart format, and its content type. */
export function multipartAnswer(answers: readonly BatchAnswer[]): { type: string; text: string } {
  const boundary = `batchresponse_${randomUUID()}`
  const parts = answers.map(({ id, status, headers, text = '' }) =>
    [
      `--${boundary}`,
      'Content-Type: application/http',
      'Content-Transfer-Encoding: binary',
      ...(id === '' ? [] : [`Content-ID: ${id}`]),
      '',
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `content-length: ${Buffer.byteLength(text)}`,
      '',
      text,
      '',
    ].join('\r\n'),
  )
  return { type: `multipart/mixed; boundary=${boundary}`, text: `${parts.join('')}--${boundary}--\r\n` }
}

/** The text between the boundaries (RFC 2046, 5.1.1). */
function partsOf(body: string, boundary: string): string[] {
  const [, ...parts] = `\n${body}`.split(`\n--${boundary}`)
  const end = parts.findIndex((part) => part.startsWith('--'))
  if (end < 0) {
    throw new ODataError('badRequest', `The batch does not end with its boundary, --${boundary}--.`)
  }
  return parts.slice(0, end).map((part) => part.replace(/^[ \t]*\r?\n/, '').replace(/\r$/, ''))
}

/** What is before and after the first empty line. */
function cut(text: string): [head: string, rest: string] {
  const match = /(?:^|\r?\n)\r?\n/.exec(text)
  return match ? [text.slice(0, match.index), text.slice(match.index + match[0].length)] : [text, '']
}

function headersIn(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/^([\w-]+):[ \t]*(.*?)\s*$/gm)]
  return Object.fromEntries(pairs.map(([, name, value]) => [name!.toLowerCase(), value!]))
}
