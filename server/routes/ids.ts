import type { FastifyRequest } from 'fastify'
import { ServerError } from '../http/errors.ts'

/** A parameter of the path, percent-decoded. */
export function pathParameter(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? ''
}

/** The id in the path. Text that is no id gives the same error as an unknown id. @throws ServerError `not_found` */
export function pathId(request: FastifyRequest, what: 'repository' | 'dataset'): number {
  const text = pathParameter(request, 'id')
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new ServerError(
    'not_found',
    `There is no ${what} ${JSON.stringify(text)}; ids are whole numbers from 1.`,
  )
}
