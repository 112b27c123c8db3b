import type { UpstreamAnswer } from '../connector.ts'
import { Failure, type FailureKind } from '../failures.ts'
import { isPage, type JsonRecord, list, parseJson, record } from '../read.ts'
import { textOf } from './text/text.ts'

/**
 * HTTP statuses and SDMX codes (web services guidelines 2.1, section 5.8) by what they mean; their numbers do not
 * overlap.
 */
const CODES: Partial<Record<FailureKind, readonly number[]>> = {
  'no-results': [100, 204, 404, 410],
  refused: [140, 150, 400, 414, 422],
  'too-large': [130, 413, 510],
  limited: [429],
  failing: [110, 401, 403, 451, 500, 501, 502, 503, 504],
}

function kindOfCode(code: number): FailureKind | undefined {
  return (Object.keys(CODES) as FailureKind[]).find((kind) => CODES[kind]!.includes(code))
}

/** Throws for the code of an error element, fault or footer; an unknown code counts as `unreadable`. */
export function refuseCode(code: string): void {
  throw new Failure(kindOfCode(Number(code)) ?? 'unreadable', { what: `The message says error ${code}.` })
}

/**
 * Throws for an answer whose status is a failure, or 204. If the body contains an SDMX code, that code decides: for 'no
 * results' some services send 400, others 500.
 */
export function refuseFailure(answer: UpstreamAnswer): void {
  const { status } = answer
  if (status === 204) throw new Failure('no-results', { what: 'The answer is 204.' })
  if (status < 300) return
  if ((status === 401 || status === 403) && !isPage(answer)) {
    // https://learn.microsoft.com/azure/api-management/quota-by-key-policy: a spent quota of a key is 403 as well.
    throw new Failure(/\bquota\b/i.test(answer.text) ? 'limited' : 'unauthorised')
  }
  const code = codeInBody(answer)
  const kind = (code === undefined ? undefined : kindOfCode(code)) ?? kindOfCode(status) ?? 'unreadable'
  const what = `The answer is ${status}${code === undefined ? '' : ` with code ${code}`}.`
  throw new Failure(kind, { what })
}

/**
 * Throws for JSON that reports a failure, whatever the HTTP status: `{error: [{status}]}` and `{warning: {status:
 * 413}}` at Eurostat, `{statusCode}` at the IMF's gateway, `{errors: [{code}]}` in SDMX-JSON without data.
 */
export function refuseJsonFailure(message: JsonRecord): void {
  const code = codeInJson(message)
  if (code !== undefined) refuseCode(String(code))
}

function codeInJson(message: JsonRecord): number | undefined {
  const hasData = ['data', 'dataSets'].some((name) => Object.keys(message[name] ?? {}).length > 0)
  const errors = hasData ? [] : list(message['errors'])
  const reports = [message['error'], message['warning'], errors].flat().map(record)
  for (const report of [...reports, hasData ? {} : message]) {
    const codes = [report['status'], report['code'], report['statusCode'], report['id']].map((one) =>
      Number(textOf(one)),
    )
    const known = codes.find((one) => kindOfCode(one) !== undefined)
    if (known !== undefined) return known
  }
  return reports.some((report) => Object.keys(report).length > 0) ? 0 : undefined
}

/** The code in the body of a failure: `{…}` as above, `<ErrorMessage code="100">`, `<faultcode>100</faultcode>`. */
function codeInBody(answer: UpstreamAnswer): number | undefined {
  const { text } = answer
  if (text.trimStart().startsWith('{')) {
    try {
      return codeInJson(record(parseJson(answer))) || undefined
    } catch {
      return undefined
    }
  }
  const match = /<(?:\w+:)?ErrorMessage\b[^>]*\bcode="(\d+)"|<faultcode>(\d+)<\/faultcode>/.exec(text)
  return match ? Number(match[1] ?? match[2]) : undefined
}
