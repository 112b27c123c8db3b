/** Errors that only the OData service has, with status and cause. The message is written where the error is thrown. */
const ODATA_ERRORS = {
  badRequest: { status: 400, when: 'a header, a key or an option of OData is malformed' },
  notFound: { status: 404, when: 'the service has no such resource' },
  readOnly: { status: 405, when: 'the service is read-only' },
  gone: { status: 410, when: 'a delta link can no longer be followed' },
  notAcceptable: { status: 406, when: 'the client accepts none of the available formats' },
  unsupportedMediaType: { status: 415, when: 'the content type of a batch or a query is not supported' },
  notImplemented: { status: 501, when: 'a part of OData that needs more than one flat table' },
} as const satisfies Record<string, { status: number; when: string }>

export type ODataErrorCode = keyof typeof ODATA_ERRORS

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
    return ODATA_ERRORS[this.code].status
  }
}
