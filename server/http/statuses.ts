import type { ConnectorErrorCode } from '../../connectors/errors.ts'
import type { ErrorCode } from '../../engine/index.ts'

/**
 * The HTTP status for each error of the engine. 499, which nginx uses for a client that left, only appears in the log,
 * because the client is gone.
 */
export const ENGINE_STATUSES = {
  invalid_filter: 400,
  filter_too_complex: 400,
  filter_type_error: 400,
  filter_failed: 400,
  invalid_columns: 400,
  invalid_option: 400,
  invalid_sql: 400,
  sql_not_allowed: 400,
  unknown_table: 400,
  saved_query: 409,
  not_representable: 400,
  invalid_upload: 400,
  invalid_columns_manifest: 400,
  invalid_file: 400,
  invalid_name: 400,
  not_found: 404,
  version_gone: 410,
  name_taken: 409,
  column_conflict: 409,
  duplicate_key: 409,
  upload_too_large: 413,
  unsupported_format: 415,
  locked: 503,
  storage_full: 503,
  storage_read_only: 503,
  storage_failed: 503,
  too_many_open_files: 503,
  storage_damaged: 500,
  storage_unavailable: 503,
  outcome_unknown: 503,
  writes_stopped: 503,
  catalog_unavailable: 503,
  overloaded: 503,
  timeout: 504,
  cancelled: 499,
  internal: 500,
} as const satisfies Record<ErrorCode, number>

/** The HTTP status for each error of the connectors. */
export const CONNECTOR_STATUSES = {
  unknown_provider: 404,
  series_not_found: 404,
  path_not_found: 404,
  invalid_series_id: 404,
  invalid_range: 400,
  invalid_option: 400,
  key_required: 400,
  key_rejected: 400,
  provider_limit: 429,
  not_understood: 500,
  provider_down: 503,
  provider_slow: 504,
  answer_too_large: 504,
  cancelled: 499,
} as const satisfies Record<ConnectorErrorCode, number>
