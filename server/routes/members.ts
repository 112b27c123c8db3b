import type { FastifyRequest } from 'fastify'
import { checkAccountName } from '../accounts/accounts.ts'
import { ServerError } from '../http/errors.ts'
import { empty, json, listOf } from '../openapi/describe.ts'
import { errors } from '../openapi/error-responses.ts'
import type { Services } from '../services.ts'
import { EXAMPLES } from './examples.ts'
import { pathId, pathParameter } from './ids.ts'
import { MEMBER } from './records.ts'
import type { Routes } from './routes.ts'

const tags = ['Members']

/** The routes for members. Members can see each other; the owner can change them; a member may leave. */
export function memberRoutes(app: Routes, services: Services): void {
  const { access, engine } = services

  const membersFor = async (request: FastifyRequest) => {
    const id = pathId(request, 'repository')
    const seen = await access.require(id, request.account, 'Read')
    const members = await access.members(id)
    // Everybody may read a public repository, but only members may know who works on it.
    if (seen.right !== 'Own' && !members.some((member) => member.account === request.account.name)) {
      throw new ServerError('forbidden', `Only members of repository ${id} may see its members.`)
    }
    return { id, seen, members, name: pathParameter(request, 'account') }
  }
  const noMember = (id: number, name: string) =>
    new ServerError('not_found', `Repository ${id} has no member ${JSON.stringify(name)}.`)

  app.get('/repositories/:id/members', {
    schema: {
      operationId: 'listMembers',
      summary: 'List the members of a repository',
      tags,
      response: {
        200: json(listOf(MEMBER), 'The members; the owner is not among them.', {
          example: [EXAMPLES.member],
        }),
        ...errors(403, 404),
      },
    },
    handler: async (request) => (await membersFor(request)).members,
  })

  app.get('/repositories/:id/members/:account', {
    schema: {
      operationId: 'getMember',
      summary: 'Get what an account may do with a repository',
      tags,
      response: { 200: json(MEMBER, 'The member.', { example: EXAMPLES.member }), ...errors(403, 404) },
    },
    handler: async (request) => {
      const { id, members, name } = await membersFor(request)
      const member = members.find((one) => one.account === name)
      if (!member) throw noMember(id, name)
      return member
    },
  })

  app.put('/repositories/:id/members/:account', {
    schema: {
      operationId: 'setMember',
      summary: 'Make an account a member of a repository, or change its permission',
      description:
        'A name that no account has yet is accepted too, so that nobody can find out which names exist: an account ' +
        'created with that name becomes a member at once.',
      tags,
      body: {
        type: 'object',
        required: ['permission'],
        additionalProperties: false,
        properties: { permission: { type: 'string', enum: ['Read', 'Write'] } },
      },
      response: {
        200: json(MEMBER, 'The member.', { example: EXAMPLES.member }),
        ...errors(403, 404, 413, 415),
      },
    },
    handler: async (request) => {
      const id = pathId(request, 'repository')
      const { owner } = await access.require(id, request.account, 'Own')
      const account = pathParameter(request, 'account')
      checkAccountName(account)
      if (account === owner) {
        throw new ServerError('invalid_body', `${owner} owns repository ${id} and may do everything with it.`)
      }
      const { permission } = request.body
      await engine.transaction((t) => access.in(t).setMember(id, account, permission))
      return { account, permission }
    },
  })

  app.delete('/repositories/:id/members/:account', {
    schema: {
      operationId: 'removeMember',
      summary: 'Remove a member from a repository; members may leave by themselves',
      tags,
      response: { 204: empty('The account is no longer a member.'), ...errors(403, 404) },
    },
    handler: async (request, reply) => {
      const id = pathId(request, 'repository')
      const name = pathParameter(request, 'account')
      await access.require(id, request.account, name === request.account.name ? 'Read' : 'Own')
      const removed = await engine.transaction((t) => access.in(t).removeMember(id, name))
      if (!removed) throw noMember(id, name)
      return reply.code(204).send()
    },
  })
}
