import { nearest } from '../../util/nearest.ts'
import { isNumeric, typeName } from '../check/value-types.ts'
import { invalid, mistyped } from '../errors.ts'
import { Unsaid } from '../sql/dialect.ts'
import { literalText } from '../sql/narrow.ts'
import { type LiteralValue, literalType } from '../syntax/literals.ts'
import { parseExpression } from '../syntax/parse.ts'
import { Comma, LParen, RParen, Slash, type Token } from '../syntax/tokens.ts'
import type { Building, Place } from './building.ts'
import { readComputed, readOrder, sortable, sortKey } from './computed.ts'
import { concatenated } from './concat.ts'
import { type Keys, readAggregates, readKeys } from './grouping.ts'
import { searchCondition } from './search.ts'
import type { AddedColumn, KeepUntil, Relation, Step, StepColumn, Transformed } from './steps.ts'
import { type Cursor, quoted } from './token-cursor.ts'

/** The surroundings of the steps within `groupby(…, here)`, which are done in each group separately. */
interface Within {
  readonly partition: readonly StepColumn[]
  /** Whether the steps before may have dropped all rows of a group. */
  readonly mayBeEmpty: boolean
}

/** Reads the text between the parentheses of a transformation. */
type Reader = (columns: readonly StepColumn[], within: Within) => Transformed

const TOP_LEVEL: Within = { partition: [], mayBeEmpty: false }

/**
 * Reads `$apply` (OData Data Aggregation 4.0, section 3). Each transformation works on the columns that come out of the
 * transformation before it.
 */
export class PipelineReader {
  readonly #cursor: Cursor
  readonly #place: Place
  readonly #building: Building

  constructor(cursor: Cursor, place: Place, building: Building) {
    this.#cursor = cursor
    this.#place = place
    this.#building = building
  }

  /** Reads the whole text. @throws EngineError where the text is not valid */
  read(columns: readonly StepColumn[]): Relation {
    const relation = this.#sequence({ steps: [], columns }, TOP_LEVEL)
    if (this.#cursor.token) throw this.#cursor.unexpected("'/' and a transformation, or the end,")
    return relation
  }

  /** Reads a sequence of transformations, such as `filter(…)/groupby(…)`. */
  #sequence(start: Relation, within: Within): Transformed {
    let relation = start
    let { mayBeEmpty } = within
    do {
      // The columns to group by are still there, but a step may have given them other names in SQL.
      const partition = within.partition.map(
        (key) => relation.columns.find(({ name }) => name === key.name) ?? key,
      )
      const { steps, columns, mayEmpty } = this.#transformation(relation.columns, { partition, mayBeEmpty })
      relation = { steps: [...relation.steps, ...steps], columns }
      mayBeEmpty = mayEmpty ?? mayBeEmpty
    } while (this.#cursor.takes(Slash))
    return { ...relation, mayEmpty: mayBeEmpty }
  }

  #transformation(columns: readonly StepColumn[], within: Within): Transformed {
    const { token } = this.#cursor
    const { name, at } = this.#cursor.name('a transformation, as filter(…) or groupby(…),')
    const word = name.toLowerCase()
    if (word === 'identity') return { steps: [], columns }
    const readers = this.#readers
    const read = Object.hasOwn(readers, word) ? readers[word] : undefined
    if (!read) throw unknownTransformation(token!, at)
    this.#cursor.expect(LParen, `'(' behind ${word}`)
    const transformed = read(columns, within)
    this.#cursor.expect(RParen, "')'")
    return transformed
  }

  readonly #readers: Readonly<Record<string, Reader>> = {
    filter: (columns) => {
      const condition = this.#building.condition(this.#place, this.#cursor.item('a condition'), columns)
      return { steps: [{ kind: 'filter', condition }], columns, mayEmpty: true }
    },
    search: (columns) => {
      const condition = searchCondition(this.#textInParentheses(), columns, this.#building)
      return { steps: [{ kind: 'filter', condition }], columns, mayEmpty: true }
    },
    compute: (columns) => {
      const added = readComputed(this.#cursor, this.#place, columns, this.#building)
      return { steps: [{ kind: 'compute', added }], columns: [...columns, ...added] }
    },
    orderby: (columns) => {
      const by = readOrder(this.#cursor, this.#place, columns, this.#building)
      return { steps: [{ kind: 'order', by }], columns }
    },
    top: (columns, { partition, mayBeEmpty }) => {
      const top = this.#count()
      const step: Step = { kind: 'window', skip: 0, top, partition: partition.map(({ sql }) => sql) }
      return { steps: [step], columns, mayEmpty: mayBeEmpty || top === 0 }
    },
    skip: (columns, { partition, mayBeEmpty }) => {
      const skip = this.#count()
      const step: Step = {
        kind: 'window',
        skip,
        top: undefined,
        partition: partition.map(({ sql }) => sql),
      }
      return { steps: [step], columns, mayEmpty: mayBeEmpty || skip > 0 }
    },
    topcount: this.#keeping('top', 'count'),
    bottomcount: this.#keeping('bottom', 'count'),
    topsum: this.#keeping('top', 'sum'),
    bottomsum: this.#keeping('bottom', 'sum'),
    toppercent: this.#keeping('top', 'percent'),
    bottompercent: this.#keeping('bottom', 'percent'),
    aggregate: (columns, { partition, mayBeEmpty }) => {
      if (mayBeEmpty && partition.length > 0) throw emptied(this.#cursor.at)
      const added = readAggregates(this.#cursor, this.#place, columns, partition, this.#building)
      return group(partition, added)
    },
    groupby: (columns, within) => this.#groupBy(columns, within),
    concat: (columns, within) => {
      const branches: Transformed[] = []
      do branches.push(this.#sequence({ steps: [], columns }, within))
      while (this.#cursor.takes(Comma))
      if (branches.length < 2) throw this.#cursor.unexpected("',' and a second sequence of transformations")
      const mayEmpty = branches.every((branch) => branch.mayEmpty)
      return { ...concatenated(branches, this.#cursor.at, this.#building), mayEmpty }
    },
  }

  #groupBy(columns: readonly StepColumn[], within: Within): Transformed {
    const { groupings, all } = readKeys(this.#cursor, columns)
    const hasSequence = this.#cursor.takes(Comma)
    const start = this.#cursor.position
    const branches = groupings.map((keys) => {
      this.#cursor.reset(start)
      return this.#grouped(keys, columns, within, hasSequence)
    })
    // A group that had no rows before contains no inner groups, so it stays empty.
    const mayEmpty = within.mayBeEmpty || branches.some((branch) => branch.mayEmpty)
    if (branches.length === 1) return { ...branches[0]!, mayEmpty }
    return { ...concatenated(branches, this.#cursor.at, this.#building, all), mayEmpty }
  }

  #grouped(keys: Keys, columns: readonly StepColumn[], within: Within, hasSequence: boolean): Transformed {
    // The two zeros are one group, and which of them is shown could differ.
    if (this.#building.dialect.name !== 'duckdb' && keys.some(({ type }) => type === 'double')) {
      throw new Unsaid('groups of double')
    }
    const partition = [...within.partition, ...keys.filter((key) => !within.partition.includes(key))]
    if (!hasSequence) return group(partition, [])
    return this.#sequence({ steps: [], columns }, { partition, mayBeEmpty: false })
  }

  #keeping(end: 'top' | 'bottom', until: KeepUntil): Reader {
    return (columns, { partition, mayBeEmpty }) => {
      const amount = this.#amount(until)
      this.#cursor.expect(Comma, "',' and what is compared")
      const value = this.#building.value(this.#place, this.#cursor.item('an expression'), columns)
      if (until !== 'count' && !isNumeric(value.type)) {
        throw mistyped(value.at, `${end}${until}() adds numbers, but this is ${typeName(value.type)}.`)
      }
      const sql = sortable(value, columns, this.#building)
      const step: Step = {
        kind: 'keep',
        by: sortKey(sql, value.type, end === 'top', this.#building),
        until,
        ...amount,
        partition: partition.map(({ sql }) => sql),
      }
      return { steps: [step], columns, mayEmpty: mayBeEmpty || until !== 'count' }
    }
  }

  /** Reads the first argument: a number of rows, a percentage or a sum. */
  #amount(until: KeepUntil): { readonly amount: string; readonly negative: boolean } {
    const value = this.#number()
    const negative = value.digits < 0n
    const { at } = value
    if (until === 'count') {
      if (!value.whole || value.digits <= 0n)
        throw invalid(at, 'the number of rows must be a whole number above 0.')
      if (value.digits > MOST_ROWS) throw tooMany(at)
    }
    if (
      until === 'percent' &&
      (value.digits <= 0n || value.digits > 100n * 10n ** BigInt(Math.max(value.scale, 0)))
    ) {
      throw invalid(at, 'the percentage must be a number above 0 and up to 100.')
    }
    const type = literalType(value)
    const parameter = this.#building.parameter(literalText(value, type))
    return { amount: `CAST(${parameter} AS ${this.#building.dialect.type(type)})`, negative }
  }

  /** Reads a whole number of rows. */
  #count(): number {
    const { whole, digits, at } = this.#number()
    if (!whole || digits < 0n)
      throw invalid(at, 'the number of rows must be a whole number that is not negative.')
    if (digits > MOST_ROWS) throw tooMany(at)
    return Number(digits)
  }

  #number(): Extract<LiteralValue, { kind: 'number' }> & { readonly at: number } {
    const { at } = this.#cursor
    const node = parseExpression(this.#place.text, this.#cursor.item('a number'), this.#building)
    if (node.kind !== 'literal' || node.value.kind !== 'number')
      throw invalid(at, 'a number is expected here.')
    return { ...node.value, at }
  }

  /** The text up to the closing parenthesis, exactly as it was written. */
  #textInParentheses(): string {
    const { at } = this.#cursor
    this.#cursor.item('words to search for')
    while (this.#cursor.takes(Comma)) this.#cursor.item('words to search for')
    return this.#place.text.slice(at, this.#cursor.at)
  }
}

function group(keys: readonly StepColumn[], added: readonly AddedColumn[]): Transformed {
  return {
    steps: [{ kind: 'group', keys: keys.map(({ sql }) => sql), added }],
    columns: [...keys, ...added],
    mayEmpty: false,
  }
}

/**
 * The error for aggregate() in groups that may have become empty. The standard wants one row for such a group, but a
 * group without rows is no longer in our data, so that row could not be made.
 */
function emptied(at: number): Error {
  return invalid(
    at,
    'in a group of groupby(), aggregate() must not follow a step that may leave no row. Put that step before ' +
      'groupby() or after aggregate().',
  )
}

const MOST_ROWS = BigInt(Number.MAX_SAFE_INTEGER)

function tooMany(at: number): Error {
  return invalid(at, `the number of rows must be at most ${MOST_ROWS}.`)
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

const NAMES = [
  ...[
    'identity',
    'filter',
    'search',
    'compute',
    'orderby',
    'top',
    'skip',
    'topcount',
    'bottomcount',
    'topsum',
  ],
  ...['bottomsum', 'toppercent', 'bottompercent', 'aggregate', 'groupby', 'concat'],
]

function unknownTransformation(token: Token, at: number): Error {
  const word = token.image.toLowerCase()
  if (NOT_ON_A_TABLE.has(word)) {
    return invalid(at, `${word}() is not supported here: a dataset is one flat table.`)
  }
  const meant = nearest(word, NAMES)
  return invalid(
    at,
    `${quoted(token)} is not a transformation.${meant ? ` Did you mean ${meant}?` : ` There are ${NAMES.join(', ')}.`}`,
  )
}
