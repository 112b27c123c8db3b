import type { UpstreamAnswer } from '../connector.ts'
import { asList, asObject, asText, type JsonObject } from './json.ts'

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

/**
 * Throws for an answer whose status is a failure, or 204. Its body decides where it carries a code of SDMX: some
 * services send 400 for 'no results', others 500 for it.
 */
export function refuseFailure({ status, text }: UpstreamAnswer): void {
  if (status === 204) throw new SdmxFailure('no-results', 'The answer is 204.')
  if (status < 300) return
  const code = codeInText(text)
  const kind = (code === undefined ? undefined : kindOfCode(code)) ?? kindOfCode(status) ?? 'unreadable'
  throw new SdmxFailure(kind, `The answer is ${status}${code === undefined ? '' : ` with code ${code}`}.`)
}

/** Throws for the code of an error element, fault or footer; a code without a meaning is taken for a defect. */
export function refuseCode(code: string): void {
  throw new SdmxFailure(kindOfCode(Number(code)) ?? 'unreadable', `The message says error ${code}.`)
}

/**
 * Throws for JSON that reports a failure, with whatever status it came: `{error: [{status}]}` and
 * `{warning: {status: 413}}` at Eurostat, `{statusCode}` at the IMF's gateway, `{errors: [{code}]}` in SDMX-JSON where
 * there is no data beside it.
 */
export function refuseJsonFailure(message: JsonObject): void {
  const code = codeInJson(message)
  if (code !== undefined) refuseCode(String(code))
}

function codeInJson(message: JsonObject): number | undefined {
  const hasData = ['data', 'dataSets', 'value'].some((name) => message[name] !== undefined && message[name] !== null)
  const errors = hasData ? [] : asList(message['errors'])
  const reports = [message['error'], message['warning'], errors].flat().map(asObject)
  for (const report of [...reports, hasData ? {} : message]) {
    const codes = [report['status'], report['code'], report['statusCode'], report['id']].map((one) => Number(asText(one)))
    const known = codes.find((one) => kindOfCode(one) !== undefined)
    if (known !== undefined) return known
  }
  return reports.some((report) => Object.keys(report).length > 0) ? 0 : undefined
}

/** The code in the body of a failure: `{…}` as above, `<ErrorMessage code="100">`, `<faultcode>100</faultcode>`. */
function codeInText(text: string): number | undefined {
  if (text.trimStart().startsWith('{')) {
    try {
      return codeInJson(asObject(JSON.parse(text))) || undefined
    } catch {
      return undefined
    }
  }
  const match = /<(?:\w+:)?ErrorMessage\b[^>]*\bcode="(\d+)"|<faultcode>(\d+)<\/faultcode>/.exec(text)
  return match ? Number(match[1] ?? match[2]) : undefined
}

/** HTTP statuses, and the codes of SDMX (web services guidelines 2.1, section 5.8), which do not overlap. */
function kindOfCode(code: number): FailureKind | undefined {
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
