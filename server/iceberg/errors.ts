import { errorAnswer } from '../http/errors.ts'

/**
 * Errors that only the catalog has: the status, and the type by which Iceberg's clients recognize the error (REST catalog
 * specification, ErrorModel). The message is written where the error is thrown.
 */
const ICEBERG_ERRORS = {
  unknownWarehouse: { status: 400, type: 'BadRequestException' },
  readOnly: { status: 403, type: 'ForbiddenException' },
  noNamespace: { status: 404, type: 'NoSuchNamespaceException' },
  /** Also if the version of a dataset is no longer kept. */
  noTable: { status: 404, type: 'NoSuchTableException' },
  wrongMethod: { status: 405, type: 'UnsupportedOperationException' },
  /** A part of the catalog that we don't have, such as views and scan plans. */
  notSupported: { status: 501, type: 'UnsupportedOperationException' },
  /** The rows are in a folder that the configuration does not open to readers. */
  noPlace: { status: 501, type: 'UnsupportedOperationException' },
} as const satisfies Record<string, { status: number; type: string }>

export type IcebergErrorCode = keyof typeof ICEBERG_ERRORS

/** An error of the catalog. `message` is a sentence for the user. */
export class IcebergError extends Error {
  override readonly name = 'IcebergError'
  readonly code: IcebergErrorCode
  readonly headers: Readonly<Record<string, string>>

  constructor(code: IcebergErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.code = code
    this.headers = headers
  }
}

/** The types for errors of the rest of the server, by status. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'BadRequestException',
  401: 'NotAuthorizedException',
  403: 'ForbiddenException',
  404: 'NotFoundException',
  503: 'ServiceUnavailableException',
}

/** An error in the form in which it is sent to a client of Iceberg. `code` is our own, for metrics and the log. */
export function icebergAnswer(error: unknown) {
  const { status, type, headers, code, message } =
    error instanceof IcebergError ? ofCatalog(error) : ofServer(error)
  return { status, headers, code, body: { error: { message, type, code: status } } }
}

function ofCatalog({ code, message, headers }: IcebergError) {
  return { ...ICEBERG_ERRORS[code], code, message, headers }
}

function ofServer(error: unknown) {
  const { status, headers, body } = errorAnswer(error)
  const type = TYPES[status] ?? (status < 500 ? 'BadRequestException' : 'InternalServerError')
  return { status, type, headers, code: body.code, message: body.error }
}
