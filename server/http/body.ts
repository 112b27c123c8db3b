import type { FastifyInstance, FastifyRequest } from 'fastify'
import { jsonFault } from './answer-errors.ts'
import { ServerError } from './errors.ts'

/** A JSON merge patch (RFC 7396): fields to change, and null for those to remove. */
export const MERGE_PATCH = 'application/merge-patch+json'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Accepts only JSON bodies. An empty body counts as none, so that a DELETE may have a JSON `Content-Type`. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    ['application/json', MERGE_PATCH],
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return undefined
      const { 'content-type': type, 'content-encoding': coding = 'identity' } = request.headers
      checkParameters(type)
      if (type?.toLowerCase().startsWith(MERGE_PATCH) && request.method !== 'PATCH') {
        throw new ServerError('unsupported_media_type', `${MERGE_PATCH} is for PATCH; send application/json.`)
      }
      if (coding.trim().toLowerCase() !== 'identity') {
        throw new ServerError('unsupported_media_type', 'The body must be sent without Content-Encoding.')
      }
      return parseJson(body)
    },
  )
}

/**
 * Refuses parameters of a `Content-Type` that we would not obey: another charset than UTF-8, or, for csv, that there is
 * no header before the rows (RFC 4180, 3).
 * @throws ServerError `unsupported_media_type`
 */
export function checkParameters(type = ''): void {
  const isDelimited = /^text\/(csv|tab-separated-values)\b/i.test(type)
  for (const parameter of type.split(';').slice(1)) {
    const [name = '', value = ''] = parameter.split('=', 2).map((part) => part.trim().toLowerCase())
    const text = value.replace(/^"(.*)"$/, '$1')
    if (name === 'charset' && !/^(utf-?8|us-ascii)$/.test(text)) {
      const option = isDelimited
        ? ', or without a charset and with the option encoding=latin1 or encoding=utf-16 in the URL'
        : ''
      throw new ServerError(
        'unsupported_media_type',
        `The charset ${text} is not supported; send text as UTF-8${option}.`,
      )
    }
    if (name === 'header' && text === 'absent') {
      throw new ServerError(
        'unsupported_media_type',
        `The content type says header=absent, which is not supported there; ${
          isDelimited
            ? 'write it as an option in the URL: ?header=absent'
            : 'only csv and tsv can have a header'
        }.`,
      )
    }
  }
}

/** @throws ServerError `invalid_json` */
export function parseJson(body: Uint8Array): unknown {
  let text: string
  try {
    text = utf8.decode(body)
  } catch {
    throw new ServerError('invalid_json', 'The body is not valid JSON: it is not UTF-8.')
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ServerError('invalid_json', `The body is not valid JSON: ${jsonFault(error)}.`)
  }
}
