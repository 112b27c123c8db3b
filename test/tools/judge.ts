import { isDeepStrictEqual } from 'node:util'

/** A value as a tool has it: what kind of value, and its text. */
export type Cell = readonly [kind: string, text: string | null]

/** The kinds of values that hold a type as itself; any other kind is said to be equal "as text". */
const OWN_KINDS: Readonly<Record<string, readonly string[]>> = {
  boolean: ['bool'],
  integer: ['int'],
  double: ['float', 'int'],
  decimal: ['decimal'],
  string: ['str'],
  date: ['date'],
  time: ['time'],
  timestamp: ['datetime'],
  timestamptz: ['datetimetz'],
  uuid: ['uuid'],
  binary: ['bytes'],
  json: ['object'],
}

/** How far a tool's values are those that were there: all and of their type, all in another form, or the first other. */
export type Verdict = 'same' | 'text' | { readonly expected: string | null; readonly got: string }

export function judge(type: string, values: readonly (string | null)[], cells: readonly Cell[]): Verdict {
  const base = type.replace(/\(.*/, '')
  let verdict: Verdict = 'same'
  if (cells.length !== values.length) {
    return { expected: `${values.length} rows`, got: `${cells.length} rows` }
  }
  for (const [index, expected] of values.entries()) {
    const [kind, text] = cells[index]!
    if (expected === null && text === null) continue
    if (expected === null || text === null || !sameValue(base, expected, text)) {
      return { expected, got: text === null ? 'null' : `${kind} ${JSON.stringify(text)}` }
    }
    if (!OWN_KINDS[base]!.includes(kind)) verdict = 'text'
  }
  return verdict
}

function sameValue(type: string, expected: string, text: string): boolean {
  switch (type) {
    case 'boolean':
      return text.toLowerCase() === expected
    case 'integer':
    case 'decimal':
      return exact(expected) === exact(text)
    case 'double':
      return Object.is(double(expected), double(text))
    case 'date':
      return text.replace(/[T ]00:00:00(\.0+)?$/, '') === expected
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return moment(expected) === moment(text)
    case 'uuid':
      return text.toLowerCase() === expected
    case 'json':
      return isDeepStrictEqual(parsed(text), parsed(expected))
    default:
      return text === expected
  }
}

/** A decimal number in one form: no exponent, no zeros around. */
function exact(text: string): string {
  const match = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text.trim())
  if (!match) return text
  const [, sign = '', whole = '', places = '', exponent = '0'] = match
  const shift = Number(exponent)
  const digits = whole + places
  const point = whole.length + shift
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0')
  const at = Math.max(point, 1)
  const front = padded.slice(0, at).replace(/^0+(?=\d)/, '')
  const back = padded.slice(at).replace(/0+$/, '')
  return `${sign === '-' ? '-' : ''}${front || '0'}${back && `.${back}`}`
}

function double(text: string): number {
  return Number(text.replace(/^([+-]?)inf(inity)?$/i, '$1Infinity'))
}

/** A moment in one form: a T, all seconds, no zeros at the end, Z for no offset. */
function moment(text: string): string {
  return text
    .replace(/^(\d{4,}-\d\d-\d\d) /, '$1T')
    .replace(/(\d\d:\d\d)(?=$|Z|[+-])/, (all, _time, at) =>
      text.slice(0, at).includes(':') ? all : `${all}:00`,
    )
    .replace(/(\.\d*?)0+(?=$|Z|[+-])/, '$1')
    .replace(/\.(?=$|Z|[+-])/, '')
    .replace(/( UTC|\+00(:?00)?)$/, 'Z')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
