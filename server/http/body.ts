import type { FastifyInstance } from 'fastify'
import { ServerError } from '../errors.ts'
import { jsonFault } from '../json-fault.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Bodies are JSON and nothing else. An empty one is none, so that a DELETE may say that it would send JSON. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => (body.length === 0 ? undefined : parseJson(body)),
  )
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
