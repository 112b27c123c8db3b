/** The statuses of errors that only the OData service has. The message is written where the error is thrown. */
const STATUSES = {
  badRequest: 400,
  notFound: 404,
  readOnly: 405,
  gone: 410,
  notAcceptable: 406,
  tooLarge: 413,
  unsupportedMediaType: 415,
  failedDependency: 424,
  notImplemented: 501,
} as const

type ODataErrorCode = keyof typeof STATUSES

/** An error of the OData service. `message` is a sentence for the user. */
export class ODataError extends Error {
  override readonly name = 'ODataError'
  readonly code: ODataErrorCode
  /** The part of the request that is wrong, for example `$filter` (JSON Format 4.01, 21.1). */
  readonly target: string | undefined

  constructor(code: ODataErrorCode, message: string, target?: string) {
    super(message)
    this.code = code
    this.target = target
  }

  get status(): number {
    return STATUSES[this.code]
  }
}

/** @param target the part of the request that is wrong */
export function malformed(message: string, target?: string): ODataError {
  return new ODataError('badRequest', message, target)
}
