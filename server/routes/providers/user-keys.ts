import { setTimeout as delay } from 'node:timers/promises'
import { ConnectorError } from '../../../connectors/errors.ts'
import { ServerError } from '../../http/errors.ts'
import { empty, errors, json } from '../../openapi/describe.ts'
import { USER_KEY } from '../../records/providers.ts'
import { listOf, object } from '../../records/schema.ts'
import type { Services } from '../../services.ts'
import { Transfer } from '../../transfers/transfer.ts'
import { pathParameter, type Routes } from '../routes.ts'

/**
 * A change takes at least this many milliseconds, even if there is nothing to check. So two changes that are sent at
 * the same moment overlap and one of them is refused, instead of one silently overwriting the other.
 */
const SHORTEST_CHANGE = 50

const LIST_USER_KEYS = {
  operationId: 'listUserKeys',
  summary: 'List the keys for providers that you have saved',
  response: { 200: json(listOf(USER_KEY), 'The saved keys. The keys themselves are not shown.') },
} as const

const SAVE_USER_KEY = {
  operationId: 'saveUserKey',
  summary: 'Save a key of your own for a provider',
  description:
    'If the provider offers a check and can be reached, the key is checked there first. It is stored encrypted, ' +
    'is used only for your requests, and raises your limit at the provider.',
  body: object(['key'], {
    key: {
      type: 'string',
      minLength: 1,
      maxLength: 1000,
      pattern: '^[\\x21-\\x7e]+( [\\x21-\\x7e]+)*$',
      description: 'ASCII letters, digits and symbols, without spaces',
    },
  }),
  response: {
    200: json(USER_KEY, 'The key is saved.'),
    ...errors(409),
  },
} as const

const DELETE_USER_KEY = {
  operationId: 'deleteUserKey',
  summary: 'Delete a saved key',
  response: { 204: empty('The key is deleted.'), ...errors(409) },
} as const

export function userKeyRoutes(app: Routes, services: Services): void {
  const { userKeys } = services

  app.get('/user-keys', { schema: LIST_USER_KEYS }, async ({ account }) => userKeys.list(account))

  app.put('/user-keys/:slug', { schema: SAVE_USER_KEY }, async (request, reply) => {
    const connectors = await services.connectors()
    const { slug, name, key: takes, keyOfWords } = connectors.get(pathParameter(request, 'slug'))
    if (takes === 'none') {
      throw new ConnectorError('key_rejected', `${name} takes no key: it is read without one.`)
    }
    const { key } = request.body
    if (key.includes(' ') && !keyOfWords) {
      throw new ServerError('invalid_body', `key must be ${SAVE_USER_KEY.body.properties.key.description}.`)
    }
    const { signal } = new Transfer(request, reply, services)
    const check = async () => {
      await Promise.all([connectors.checkKey(slug, key, signal), delay(SHORTEST_CHANGE)])
    }
    return userKeys.save(request.account, slug, key, check)
  })

  app.delete('/user-keys/:slug', { schema: DELETE_USER_KEY }, async (request, reply) => {
    const connectors = await services.connectors()
    const { slug } = connectors.get(pathParameter(request, 'slug'))
    await userKeys.delete(request.account, slug)
    return reply.code(204).send()
  })
}
