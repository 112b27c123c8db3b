/**
 * Why an answer contains nothing that can be read:
 * - `no-results`: the provider has no such structure or series, or no observations of it;
 * - `no-history`: the provider has the series, but does not tell what it was on the day that was asked for;
 * - `refused`: the provider says that the request is wrong, for example a key with too many parts;
 * - `too-large`: the answer would be larger than the provider allows;
 * - `limited`: too many requests;
 * - `unavailable`: the provider fails, or denies access to everybody;
 * - `unreadable`: the body is no SDMX message.
 */
export type FailureKind =
  | 'no-results'
  | 'no-history'
  | 'refused'
  | 'too-large'
  | 'limited'
  | 'unavailable'
  | 'unreadable'

/** The error that the readers throw. Its sentence is for the log; users get one that names their series. */
export class SdmxFailure extends Error {
  override readonly name = 'SdmxFailure'
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
  }
}

export function notUnderstood(what: string, cause?: unknown): SdmxFailure {
  return new SdmxFailure('unreadable', `The body is ${what}.`, cause)
}

/** Throws for the code of an error element, fault or footer; an unknown code counts as `unreadable`. */
export function refuseCode(code: string): void {
  throw new SdmxFailure(kindOfCode(Number(code)) ?? 'unreadable', `The message says error ${code}.`)
}

/**
 * The kind of an HTTP status or of an SDMX code (web services guidelines 2.1, section 5.8); their numbers do not
 * overlap.
 */
export function kindOfCode(code: number): FailureKind | undefined {
  switch (code) {
    case 100:
    case 204:
    case 404:
    case 410:
      return 'no-results'
    case 140:
    case 150:
    case 400:
    case 414:
    case 422:
      return 'refused'
    case 130:
    case 413:
    case 510:
      return 'too-large'
    case 429:
      return 'limited'
    case 110:
    case 401:
    case 403:
    case 451:
    case 500:
    case 501:
    case 502:
    case 503:
    case 504:
      return 'unavailable'
    default:
      return undefined
  }
}
