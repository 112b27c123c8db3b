export type { Account, Accounts } from './accounts/accounts.ts'
export { buildApp, parquetry } from './app.ts'
export {
  type Config,
  type ConfigArguments,
  ConfigError,
  type PlanLimits,
  readConfig,
} from './config/config.ts'
export { SERVER_ERRORS, ServerError, type ServerErrorCode } from './http/errors.ts'
export { type Server, serve } from './serve.ts'
export { openServices, type ServiceParts, type Services } from './services.ts'
