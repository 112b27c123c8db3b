/**
 * Why no answer came. `connect`: the request never left; `broken`: the connection ended early; `slow`: a timeout;
 * `failing`: a status of 500 or more; `too-large`: over the size limit; `redirected`: redirected away from the
 * configured address; `garbled`: the bytes can't be decoded.
 */
export type FailureKind = 'connect' | 'broken' | 'slow' | 'failing' | 'too-large' | 'redirected' | 'garbled'

/** Used only inside the pipeline; `sanitise` turns it into a `ConnectorError`. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
  }
}
