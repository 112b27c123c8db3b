import type { FastifyRequest } from 'fastify'
import { ServerError } from '../http/errors.ts'

/** A parameter of the path, percent-decoded. */
export function pathParameter(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? ''
}

/** The number of a version in the path. @throws ServerError `not_found` */
export function pathVersion(request: FastifyRequest): number {
  const text = pathParameter(request, 'version')
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new ServerError(
    'not_found',
    `There is no version ${JSON.stringify(text)}; versions are whole numbers.`,
  )
}

const LISTS = { repository: '/repositories', dataset: '/datasets', link: '/links' } as const

/** The id in the path. Text that is no id gives the same error as an unknown id. @throws ServerError `not_found` */
export function pathId(request: FastifyRequest, what: keyof typeof LISTS): number {
  const text = pathParameter(request, 'id')
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new ServerError(
    'not_found',
    `There is no ${what} ${JSON.stringify(text)}; ids are whole numbers from 1, and GET ${LISTS[what]} lists them.`,
  )
}
