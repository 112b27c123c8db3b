import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Repository as EngineRepository, Handle } from '../../engine/index.ts'
import type { RepositoryAccess } from '../accounts/access.ts'
import { ServerError } from '../http/errors.ts'
import { recordTag, requireMatch } from '../http/headers.ts'
import { empty, errors, json, made, tagged } from '../openapi/describe.ts'
import type { Repository, RepositoryPatch } from '../records/index.ts'
import {
  MEMBER,
  MEMBERSHIP,
  NEW_REPOSITORY,
  REPOSITORY,
  REPOSITORY_CHANGES,
  REPOSITORY_PATCH,
} from '../records/repositories.ts'
import { listOf } from '../records/schema.ts'
import type { Services } from '../services.ts'
import { created, pathId, pathParameter, type Routes } from './routes.ts'

const GET_REPOSITORY = {
  operationId: 'getRepository',
  summary: 'Get a repository',
  response: { 200: tagged(REPOSITORY, 'The repository.') },
} as const

const UPDATE_REPOSITORY = {
  operationId: 'updateRepository',
  summary: 'Change a repository: its name, its description, or whether it is private',
  description:
    'Fields that you leave out do not change. Only the owner can make a repository private or public.',
  body: REPOSITORY_CHANGES,
  response: {
    200: tagged(REPOSITORY, 'The repository, changed.'),
    ...errors(402, 412),
  },
} as const

const PATCH_REPOSITORY = {
  operationId: 'patchRepository',
  summary: 'Change fields of a repository',
  description:
    'A JSON merge patch, also as `application/merge-patch+json`: fields that you leave out do not change, and null removes a field. Only the owner can ' +
    'make a repository private or public.',
  body: REPOSITORY_PATCH,
  response: {
    200: tagged(REPOSITORY, 'The repository, changed.'),
    ...errors(402, 412),
  },
} as const

const DELETE_REPOSITORY = {
  operationId: 'deleteRepository',
  summary: 'Delete a repository with its datasets',
  description: 'Everybody with Write permission may delete it. Downloads that have started run to their end.',
  response: { 204: empty('The repository is deleted.'), ...errors(412) },
} as const

const LIST_REPOSITORIES = {
  operationId: 'listRepositories',
  summary: 'List the repositories that you may read',
  description: 'Your own come first, then those shared with you, then the public ones of others.',
  response: { 200: json(listOf(REPOSITORY), 'The repositories, in one list.') },
} as const

const CREATE_REPOSITORY = {
  operationId: 'createRepository',
  summary: 'Create a repository, a new one with each call',
  body: NEW_REPOSITORY,
  response: {
    201: made(REPOSITORY, 'The new repository. You own it.'),
    ...errors(402, 422),
  },
} as const

export function repositoryRoutes(app: Routes, services: Services): void {
  const { access, engine, idempotency, plans } = services
  const record = async (id: number, seen: RepositoryAccess, t?: Handle) =>
    repositoryRecord(await engine.repository(id, t), seen)
  /** A repository that the account may write to, and that is still as its client saw it. */
  const asSeen = async (request: FastifyRequest, id: number, t: Handle) => {
    await t.lock('repositories', id)
    const seen = await access.in(t).require(id, request.account, 'Write')
    requireMatch(request, recordTag(await record(id, seen, t)))
    return seen
  }

  app.get('/repositories', { schema: LIST_REPOSITORIES }, async (request) => {
    const readable = await access.readable(request.account)
    const repositories = new Map((await engine.repositories()).map((one) => [one.id, one]))
    return [...readable.values()].flatMap((seen) => {
      const repository = repositories.get(seen.repositoryId)
      return repository ? [repositoryRecord(repository, seen)] : []
    })
  })

  app.post('/repositories', { schema: CREATE_REPOSITORY }, async (request, reply) => {
    const { account, body } = request
    const { private: isPrivate = true, ...fields } = body
    const { id } = await idempotency.create(request, async (t) => {
      const accessNow = access.in(t)
      await plans.allowOneMore(repositoriesOf(isPrivate), account, accessNow)
      const repository = await engine.createRepository(fields, t)
      await accessNow.setOwner(repository.id, account.id, isPrivate)
      return repository
    })
    const made = await record(id, await access.of(id, account))
    return created(reply, `${app.prefix}/repositories/${id}`, made)
  })

  app.get('/repositories/:id', { schema: GET_REPOSITORY }, async (request, reply) => {
    const id = pathId(request, 'repository')
    return answer(reply, await record(id, await access.require(id, request.account, 'Read')))
  })

  app.put('/repositories/:id', { schema: UPDATE_REPOSITORY }, async (request, reply) =>
    change(request, reply, request.body),
  )

  app.patch('/repositories/:id', { schema: PATCH_REPOSITORY }, async (request, reply) =>
    change(request, reply, request.body),
  )

  async function change(
    request: FastifyRequest,
    reply: FastifyReply,
    { private: isPrivate, description, ...fields }: RepositoryPatch,
  ) {
    const id = pathId(request, 'repository')
    await engine.transaction(async (t) => {
      const seen = await asSeen(request, id, t)
      if (isPrivate !== undefined && isPrivate !== seen.private) {
        const { owner } = await access.in(t).require(id, request.account, 'Own')
        if (request.account.repositories) throw limitedKey('change who may read it')
        await plans.allowOneMore(repositoriesOf(isPrivate), owner, access.in(t))
        await access.in(t).setOwner(id, owner.id, isPrivate)
      }
      const changes = { ...fields, ...(description !== undefined && { description: description ?? '' }) }
      await engine.updateRepository(id, changes, t)
    })
    return answer(reply, await record(id, await access.of(id, request.account)))
  }

  app.delete('/repositories/:id', { schema: DELETE_REPOSITORY }, async (request, reply) => {
    const id = pathId(request, 'repository')
    await engine.deleteRepository(id, async (t) => void (await asSeen(request, id, t)))
    return reply.code(204).send()
  })
}

function limitedKey(what: string): ServerError {
  return new ServerError(
    'forbidden',
    `A key that is limited to repositories can't ${what}. Use another key of the account.`,
  )
}

/** The limit that a repository counts towards. */
function repositoriesOf(isPrivate: boolean) {
  return isPrivate ? 'privateRepositories' : 'publicRepositories'
}

/** A repository as one account sees it. */
function repositoryRecord(repository: EngineRepository, access: RepositoryAccess): Repository {
  const { id, name, description, createdAt, updatedAt } = repository
  const permission = access.right === 'Read' ? 'Read' : 'Write'
  return {
    id,
    name,
    description,
    private: access.private,
    owner: access.owner.name,
    permission,
    createdAt,
    updatedAt,
  }
}

function answer(reply: FastifyReply, record: Repository): FastifyReply {
  return reply.header('etag', recordTag(record)).send(record)
}

const LIST_MEMBERS = {
  operationId: 'listMembers',
  summary: 'List the members of a repository',
  response: { 200: json(listOf(MEMBER), 'The members; the owner is not among them.') },
} as const

const GET_MEMBER = {
  operationId: 'getMember',
  summary: 'Get what an account may do with a repository',
  response: { 200: json(MEMBER, 'The member.') },
} as const

const SET_MEMBER = {
  operationId: 'setMember',
  summary: 'Make an account a member of a repository, or change its permission',
  body: MEMBERSHIP,
  response: { 200: json(MEMBER, 'The member.') },
} as const

const REMOVE_MEMBER = {
  operationId: 'removeMember',
  summary: 'Remove a member from a repository; members may leave by themselves',
  response: { 204: empty('The account is no longer a member.') },
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
  // What such a key gave would outlast it.
  const requireWhole = ({ account }: FastifyRequest) => {
    if (account.repositories) throw limitedKey('change members')
  }
  const noMember = (id: number, name: string) =>
    new ServerError('not_found', `Repository ${id} has no member ${JSON.stringify(name)}.`)

  app.get(
    '/repositories/:id/members',
    { schema: LIST_MEMBERS },
    async (request) => (await membersFor(request)).members,
  )

  app.get('/repositories/:id/members/:account', { schema: GET_MEMBER }, async (request) => {
    const { id, members, name } = await membersFor(request)
    const member = members.find((one) => one.account === name)
    if (!member) throw noMember(id, name)
    return member
  })

  app.put('/repositories/:id/members/:account', { schema: SET_MEMBER }, async (request) => {
    const id = pathId(request, 'repository')
    const { owner } = await access.require(id, request.account, 'Own')
    requireWhole(request)
    const account = pathParameter(request, 'account')
    if (account === owner.name) {
      throw new ServerError('invalid_body', `${account} owns repository ${id} and may do everything with it.`)
    }
    const { permission } = request.body
    await engine.transaction((t) => access.in(t).setMember(id, account, permission, request.account))
    return { account, permission }
  })

  app.delete('/repositories/:id/members/:account', { schema: REMOVE_MEMBER }, async (request, reply) => {
    const id = pathId(request, 'repository')
    const name = pathParameter(request, 'account')
    await access.require(id, request.account, name === request.account.name ? 'Read' : 'Own')
    requireWhole(request)
    const removed = await engine.transaction((t) => access.in(t).removeMember(id, name))
    if (!removed) throw noMember(id, name)
    return reply.code(204).send()
  })
}
