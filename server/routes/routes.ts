import type { Readable } from 'node:stream'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { FromSchema } from '../records/schema.ts'

/** Bodies and query strings have the types of the route's schema, and so have its answers, which may be streamed. */
interface RouteTypes extends FastifyTypeProvider {
  readonly validator: FromSchema<this['schema']>
  readonly serializer: FromSchema<this['schema']> | Readable
}

/** The type of an application to which routes are added. */
export type Routes = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  RouteTypes
>
