import type { FastifyRequest } from 'fastify'
import { ServerError } from '../http/errors.ts'
import { empty, errors, json } from '../openapi/describe.ts'
import { EXAMPLES } from '../records/examples.ts'
import { MEMBER, MEMBERSHIP } from '../records/repositories.ts'
import { listOf } from '../records/schema.ts'
import type { Services } from '../services.ts'
import { pathId, pathParameter } from './dataset-for.ts'
import type { Routes } from './routes.ts'

const tags = ['Members']

const LIST_MEMBERS = {
  operationId: 'listMembers',
  summary: 'List the members of a repository',
  tags,
  response: {
    200: json(listOf(MEMBER), 'The members; the owner is not among them.', {
      example: [EXAMPLES.member],
    }),
    ...errors(403, 404),
  },
} as const

const GET_MEMBER = {
  operationId: 'getMember',
  summary: 'Get what an account may do with a repository',
  tags,
  response: { 200: json(MEMBER, 'The member.', { example: EXAMPLES.member }), ...errors(403, 404) },
} as const

const SET_MEMBER = {
  operationId: 'setMember',
  summary: 'Make an account a member of a repository, or change its permission',
  tags,
  body: MEMBERSHIP,
  response: {
    200: json(MEMBER, 'The member.', { example: EXAMPLES.member }),
    ...errors(403, 404, 413, 415),
  },
} as const

const REMOVE_MEMBER = {
  operationId: 'removeMember',
  summary: 'Remove a member from a repository; members may leave by themselves',
  tags,
  response: { 204: empty('The account is no longer a member.'), ...errors(403, 404) },
} as const

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
    schema: LIST_MEMBERS,
    handler: async (request) => (await membersFor(request)).members,
  })

  app.get('/repositories/:id/members/:account', {
    schema: GET_MEMBER,
    handler: async (request) => {
      const { id, members, name } = await membersFor(request)
      const member = members.find((one) => one.account === name)
      if (!member) throw noMember(id, name)
      return member
    },
  })

  app.put('/repositories/:id/members/:account', {
    schema: SET_MEMBER,
    handler: async (request) => {
      const id = pathId(request, 'repository')
      const { owner } = await access.require(id, request.account, 'Own')
      const account = pathParameter(request, 'account')
      if (account === owner) {
        throw new ServerError('invalid_body', `${owner} owns repository ${id} and may do everything with it.`)
      }
      const { permission } = request.body
      await engine.transaction((t) => access.in(t).setMember(id, account, permission))
      return { account, permission }
    },
  })

  app.delete('/repositories/:id/members/:account', {
    schema: REMOVE_MEMBER,
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
