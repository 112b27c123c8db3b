/**
 * Why an answer gives nothing to read:
 * - `no-results`: the provider has no such structure or series, or no observations of it;
 * - `refused`: it says that the request is wrong, as for a key with too many parts;
 * - `too-large`: it would have to answer more than it does;
 * - `limited`: too many requests;
 * - `unavailable`: it fails, or lets nobody in;
 * - `unreadable`: the body is no SDMX message.
 */
export type FailureKind = 'no-results' | 'refused' | 'too-large' | 'limited' | 'unavailable' | 'unreadable'

/** What the readers throw. The sentence is for the log; users get one that names their series. */
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

/** Throws for the code of an error element, fault or footer; a code without a meaning is taken for a defect. */
export function refuseCode(code: string): void {
  throw new SdmxFailure(kindOfCode(Number(code)) ?? 'unreadable', `The message says error ${code}.`)
}

/** HTTP statuses, and the codes of SDMX (web services guidelines 2.1, section 5.8), which do not overlap. */
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
