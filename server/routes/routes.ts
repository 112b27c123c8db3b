import type { JsonSchemaToTsProvider } from '@fastify/type-provider-json-schema-to-ts'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'

/** Defaults are only documentation and are not filled in, so a property with a default may still be missing. */
type FromRouteSchema = JsonSchemaToTsProvider<{
  ValidatorSchemaOptions: { keepDefaultedPropertiesOptional: true; parseIfThenElseKeywords: true }
}>

/** The type of an application to which routes are added. Body and query string have the types of the route's schema. */
export type Routes = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  FromRouteSchema
>
