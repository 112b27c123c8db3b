import { EngineError } from '../../errors.ts'
import { nearest } from '../../util/nearest.ts'
import { excerpt, invalid } from '../errors.ts'
import { complain, type Fault, foreign, noOperator, quote } from './complaints.ts'
import { Asc, Comma, Desc, Foreign, isA, RParen, With, Word } from './tokens.ts'

/** The error for a text of an option other than $filter that does not follow the option's rule. */
export function complainOption(option: string, fault: Fault): Error {
  const { found, at, rule, leftOver } = fault
  if (option === 'names') return complainName(fault)
  if (found?.tokenType.name === 'openPhrase') return invalid(at, 'this phrase has no closing ".')
  if (rule === 'transformation' || (rule === 'apply' && !leftOver)) return noTransformation(fault)
  const context = leftOver ? `end ${option}` : `${fault.expected ?? 'begin'} ${rule}`
  const expected = expectedAt(context, fault)
  if (!expected) return complain(fault)
  if (isA(found, Foreign)) return foreign(found!)
  if (rule === 'aggregated' && found?.image.toLowerCase() === 'from') {
    return invalid(at, "'from' is not supported here. Write groupby(…)/aggregate(…) in its place.")
  }
  const ends = found === undefined || isA(found, Comma) || isA(found, RParen)
  return !ends && AFTER_EXPRESSIONS.has(context) && !isDirected(context, fault)
    ? noOperator(fault, expected)
    : unexpected(fault, expected)
}

function unexpected({ found, at }: Fault, expected: string): Error {
  const what = found ? `found ${quote(found)}` : 'the text ends'
  return invalid(at, `${what}, where ${expected} is expected.`)
}

/**
 * What is expected where a text stops following a rule: at the beginning of the rule, at a token that must stand there,
 * or at the end of an option that is complete. Where nothing is given, the fault is within an expression.
 */
const EXPECTED: Readonly<Record<string, string>> = {
  'begin compute': 'an expression',
  'begin orderby': 'a column or an expression',
  'begin aggregateTrafo': 'an expression to aggregate',
  'begin aggregated': 'an expression to aggregate',
  'begin groupbyList': 'a column',
  'begin groupbyElement': 'a column',
  'begin concatTrafo': "',' and a second sequence of transformations",
  'begin search': 'a word',
  'begin searchOperand': 'a word',
  'end compute': "',' or the end",
  'end orderby': "asc, desc, ',' or the end",
  'end apply': "'/' and a transformation, or the end,",
  'AS computed': "'as' and a name, as in Price mul 2 as Twice,",
  'AS aggregated': "'as' and a name, as in Price with sum as Total,",
  'WITH aggregated': "'with' and a method, as in Price with sum as Total,",
  'Name groupbyElement': 'a column',
  'Name computed': 'a name',
  'Name aggregated': 'a name',
  'Comma keepTrafo': "',' and what is compared",
  'SearchRParen searchTrafo': "')'",
  'SearchRParen searchOperand': "')'",
  'LParen groupbyList': "'(' and the columns to group by",
  'RParen filterTrafo': "')'",
  'RParen windowTrafo': "')'",
  'RParen keepTrafo': "')'",
  'RParen orderbyTrafo': "asc, desc, ',' or ')'",
  'RParen computeTrafo': "',' or ')'",
  'RParen aggregateTrafo': "',' or ')'",
  'RParen groupbyTrafo': "',' or ')'",
  'RParen groupbyList': "',' or ')'",
  'RParen groupbyElement': "',' or ')'",
  'RParen concatTrafo': "'/', ',' or ')'",
}

/** Where an operator might stand, too, because an expression is complete. */
const AFTER_EXPRESSIONS: ReadonlySet<string> = new Set([
  ...['end orderby', 'AS computed', 'Comma keepTrafo'],
  ...['RParen filterTrafo', 'RParen windowTrafo', 'RParen keepTrafo', 'RParen orderbyTrafo'],
])

function expectedAt(context: string, fault: Fault): string | undefined {
  const { expected, before } = fault
  if (expected === 'Name' && before?.tokenType === With) return 'a method'
  if (expected === 'LParen' && /Trafo$|Element$/.test(context)) return `'(' after ${before!.image}`
  return isDirected(context, fault) ? EXPECTED[context]?.replace('asc, desc, ', '') : EXPECTED[context]
}

/** Whether a key of an order has its direction already. */
function isDirected(context: string, { before }: Fault): boolean {
  return /orderby/.test(context) && (before?.tokenType === Asc || before?.tokenType === Desc)
}

const NOT_ON_A_TABLE = /^(?:join|outerjoin|nest|addnested|expand|ancestors|descendants|traverse)$/

/** What `$apply` can do with a table. */
export const TRANSFORMATIONS = [
  ...['identity', 'filter', 'search', 'compute', 'orderby', 'top', 'skip', 'topcount', 'bottomcount'],
  ...['topsum', 'bottomsum', 'toppercent', 'bottompercent', 'aggregate', 'groupby', 'concat'],
]

function noTransformation(fault: Fault): Error {
  const { found, at } = fault
  if (!isA(found, Word)) return unexpected(fault, 'a transformation, as filter(…) or groupby(…),')
  const word = found!.image.toLowerCase()
  if (word === 'search') return invalid(at, "'search' is followed by '(' and the words to search for.")
  if (NOT_ON_A_TABLE.test(word)) {
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
  return new EngineError('invalid_filter', said, { details: { position: at } })
}
