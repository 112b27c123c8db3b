import { EngineError } from '../../errors.ts'
import { nearest } from '../../util/known-options.ts'
import { excerpt, invalid } from '../errors.ts'
import { complain, type Fault, foreign, noOperator, quote } from './complaints.ts'
import { Asc, Comma, Desc, Foreign, isA, RParen, With, Word } from './tokens.ts'

/** The error for a text of an option other than $filter that does not follow the option's rule. */
export function complainOption(option: string, fault: Fault): Error {
  const { found, at, rule, leftOver } = fault
  if (option === 'names') return complainName(fault)
  if (found?.tokenType.name === 'openPhrase') return invalid(at, 'this phrase has no closing ".')
  if (rule === 'transformation' || (rule === 'apply' && !leftOver)) return noTransformation(fault)
  const expected = leftOver ? endOf(option, fault) : expectedBy(fault)
  if (!expected) return complain(fault)
  if (isA(found, Foreign)) return foreign(found!)
  if (rule === 'aggregated' && found?.image.toLowerCase() === 'from') {
    return invalid(at, "'from' is not supported here. Write groupby(…)/aggregate(…) in its place.")
  }
  const ends = found === undefined || isA(found, Comma) || isA(found, RParen)
  return !ends && endsWithExpression(option, fault)
    ? noOperator(fault, expected)
    : unexpected(fault, expected)
}

function unexpected({ found, at }: Fault, expected: string): Error {
  const what = found ? `found ${quote(found)}` : 'the text ends'
  return invalid(at, `${what}, where ${expected} is expected.`)
}

/** The first token of what each rule begins with. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  compute: 'an expression',
  orderby: 'a column or an expression',
  aggregateTrafo: 'an expression to aggregate',
  aggregated: 'an expression to aggregate',
  groupbyList: 'a column',
  groupbyElement: 'a column',
  concatTrafo: "',' and a second sequence of transformations",
  search: 'a word',
  searchOperand: 'a word',
}

/** What may follow the text of an option. */
const ENDS: Readonly<Record<string, string>> = {
  compute: "',' or the end",
  orderby: "asc, desc, ',' or the end",
  apply: "'/' and a transformation, or the end,",
}

/** What may stand in the place of a parenthesis that closes. */
const CLOSINGS: Readonly<Record<string, string>> = {
  filterTrafo: "')'",
  windowTrafo: "')'",
  keepTrafo: "')'",
  orderbyTrafo: "asc, desc, ',' or ')'",
  concatTrafo: "'/', ',' or ')'",
}

function endOf(option: string, { before }: Fault): string | undefined {
  return isDirection(before) ? "',' or the end" : ENDS[option]
}

/** What is expected, for messages; undefined within an expression. */
function expectedBy({ rule, expected, before }: Fault): string | undefined {
  switch (expected) {
    case undefined:
      return BEGINNINGS[rule]
    case 'AS':
      return rule === 'aggregated'
        ? "'as' and a name, as in Price with sum as Total,"
        : "'as' and a name, as in Price mul 2 as Twice,"
    case 'WITH':
      return "'with' and a method, as in Price with sum as Total,"
    case 'Name':
      return rule === 'groupbyElement' ? 'a column' : before?.tokenType === With ? 'a method' : 'a name'
    case 'Comma':
      return "',' and what is compared"
    case 'SearchRParen':
      return "')'"
    case 'LParen':
      return rule === 'groupbyList' ? "'(' and the columns to group by" : `'(' after ${before!.image}`
    case 'RParen':
      if (!/Trafo$|^groupby/.test(rule)) return undefined
      return isDirection(before) ? "',' or ')'" : (CLOSINGS[rule] ?? "',' or ')'")
    default:
      return undefined
  }
}

function isDirection(token: Fault['before']): boolean {
  return token?.tokenType === Asc || token?.tokenType === Desc
}

/** Whether an expression is complete before the fault, so that an operator might follow, too. */
function endsWithExpression(option: string, { rule, expected, before, leftOver }: Fault): boolean {
  if (leftOver) return option === 'orderby' && !isDirection(before)
  if (expected === 'AS') return rule === 'computed'
  if (expected === 'Comma') return true
  return expected === 'RParen' && !isDirection(before) && /^(?:filter|window|keep|orderby)/.test(rule)
}

const NOT_ON_A_TABLE: ReadonlySet<string> = new Set([
  'join',
  'outerjoin',
  'nest',
  'addnested',
  'expand',
  'ancestors',
  'descendants',
  'traverse',
])

const TRANSFORMATIONS = [
  ...['identity', 'filter', 'search', 'compute', 'orderby', 'top', 'skip', 'topcount', 'bottomcount'],
  ...['topsum', 'bottomsum', 'toppercent', 'bottompercent', 'aggregate', 'groupby', 'concat'],
]

function noTransformation(fault: Fault): Error {
  const { found, at } = fault
  if (!isA(found, Word)) return unexpected(fault, 'a transformation, as filter(…) or groupby(…),')
  const word = found!.image.toLowerCase()
  if (word === 'search') return invalid(at, "'search' is followed by '(' and the words to search for.")
  if (NOT_ON_A_TABLE.has(word)) {
    return invalid(at, `${word}() is not supported here: a dataset is one flat table.`)
  }
  const meant = nearest(word, TRANSFORMATIONS)
  const hint = meant ? ` Did you mean ${meant}?` : ` There are ${TRANSFORMATIONS.join(', ')}.`
  return invalid(at, `${quote(found!)} is not a transformation.${hint}`)
}

/** The error for a list of plain names, as in $select. */
function complainName({ found, before, at }: Fault): Error {
  const said =
    found?.tokenType.name === 'openName'
      ? `the quote at position ${at + 1} is never closed.`
      : found === undefined || found.tokenType === Comma
        ? `a column name is missing at position ${at + 1}.`
        : `expected a comma after ${before!.image}, found ${JSON.stringify(excerpt(found.image.trim()))}.`
  return new EngineError('invalid_filter', said, { details: { position: at + 1 } })
}
