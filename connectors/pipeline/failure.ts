/**
 * Why no answer came. `connect`: the request never left; `broken`: the connection ended early; `slow`: a timeout;
 * `failing`: a status of 500 and more;
 * `too-large`: over the size limit; `redirected`: away from the configured address; `garbled`: bytes that do not
 * decode.
 */
export type FailureKind = 'connect' | 'broken' | 'slow' | 'failing' | 'too-large' | 'redirected' | 'garbled'

/** Inside the pipeline alone; `sanitise` makes a `ConnectorError` of it. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
  }
}
