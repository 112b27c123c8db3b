import type { JsonSchemaToTsProvider } from '@fastify/type-provider-json-schema-to-ts'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'

/** Defaults are documented, not filled in, so a property that has one may still be missing. */
type FromRouteSchema = JsonSchemaToTsProvider<{
  ValidatorSchemaOptions: { keepDefaultedPropertiesOptional: true; parseIfThenElseKeywords: true }
}>

/** Where routes are added: body and query string of a request have the types that the route's schema says. */
export type Routes = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  FromRouteSchema
>
