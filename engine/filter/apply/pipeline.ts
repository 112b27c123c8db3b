import { EngineError, hint } from '../../errors.ts'
import type { Source } from '../check/check.ts'
import { columnsOf, type SqlColumn } from '../check/expression.ts'
import { invalid, mistyped } from '../errors.ts'
import { asColumn, type Building, type Value } from '../sql/compile.ts'
import { NotTranslatable } from '../sql/dialect.ts'
import { compareNumbers } from '../sql/narrow.ts'
import { parseRule } from '../syntax/parse.ts'
import type { Keep, Name, NameItem, Sequence, Syntax, Transformation } from '../syntax/tree.ts'
import { isNumeric, type LiteralValue, typeName } from '../values.ts'
import { aggregate, findMethod, groupingsOf, type Keys, requireNames, requireNew } from './grouping.ts'
import { searchCondition } from './search.ts'
import {
  type AddedColumn,
  checkSize,
  concatenated,
  group,
  keyOf,
  type Relation,
  type SortKey,
  type Step,
} from './steps.ts'

/** The texts of the options that `readPipeline` reads. */
export interface PipelineOptions {
  readonly apply?: string | undefined
  readonly compute?: string | undefined
  readonly search?: string | undefined
}

/**
 * Reads `$apply`, `$compute` and `$search` into steps, in the order in which the standard applies them.
 * @throws EngineError `invalid_option` with the position, `invalid_columns`, `filter_type_error`, `filter_too_complex`
 */
export function readPipeline(
  { apply, compute, search }: PipelineOptions,
  columns: readonly SqlColumn[],
  building: Building,
): Relation {
  const none: Relation = { steps: [], columns }
  const applied = after(none, 'Apply', apply, building, (text) => parseRule('apply', text, building.aliases))
  const computed = after(applied, 'Compute', compute, building, (text) => [
    { kind: 'compute', computed: parseRule('compute', text, building.aliases), at: 0 },
  ])
  return after(computed, 'Search', search, building, (text) => [
    { kind: 'search', search: parseRule('search', text, building.aliases), at: 0 },
  ])
}

/** Reads `$orderby` with expressions over columns. @throws EngineError the same as `readPipeline` */
export function readOrderBy(
  text: string,
  columns: readonly SqlColumn[],
  building: Building,
): readonly SortKey[] {
  const { steps } = after({ steps: [], columns }, 'Orderby', text, building, () => [
    { kind: 'orderby', items: parseRule('orderby', text, building.aliases), at: 0 },
  ])
  return steps.flatMap((step) => (step.kind === 'order' ? step.by : []))
}

/**
 * Reads one expression over columns.
 * @param name what messages begin with
 * @throws EngineError the same as `readPipeline`
 */
export function readExpression(
  name: string,
  text: string,
  columns: readonly SqlColumn[],
  building: Building,
): ReturnType<typeof asColumn> {
  return inOption(name, () => {
    if (text.trim() === '') throw invalid(0, 'the expression is empty. Write one, as in =Price mul 2.')
    const syntax = parseRule('expression', text, building.aliases)
    return asColumn(building.value({ text, option: 'Expression' }, syntax, columns), building)
  })
}

/** A relation after the transformations that an option names, if it is given. */
function after(
  relation: Relation,
  option: Source['option'],
  text: string | undefined,
  building: Building,
  read: (text: string) => Sequence,
): Relation {
  if (text === undefined) return relation
  const { steps, columns } = inOption(`$${option.toLowerCase()}`, () => {
    const source: Source = { text, option }
    const sequence = read(text)
    requireNames(sequence, source, relation.columns)
    return new Pipeline(source, building).read(sequence, relation.columns)
  })
  return { steps: [...relation.steps, ...steps], columns }
}

/** Reads a list of plain names, as that of `$select`. @throws EngineError `invalid_option` */
export function readNames(option: string, text: string): readonly NameItem[] {
  return inOption(option, () => parseRule('names', text))
}

/** Adds the name of the option to errors, and replaces "the filter" in their messages by "the expression". */
function inOption<T>(option: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof EngineError) || error.code === 'invalid_columns') throw error
    const code = error.code === 'invalid_filter' ? 'invalid_option' : error.code
    const { message, details } = error.marked
    const problem = message.replace(/\b([Tt])he filter\b/g, '$1he expression')
    throw new EngineError(code, `${hint(option)}: ${problem}`, {
      cause: error,
      details: { problem, ...details, option },
    })
  }
}

/** The surroundings of the steps within `groupby(…, here)`, which are done in each group separately. */
interface GroupScope {
  readonly partition: readonly SqlColumn[]
  /** Whether the steps before may have dropped all rows of a group. */
  readonly mayBeEmpty: boolean
}

const TOP_LEVEL: GroupScope = { partition: [], mayBeEmpty: false }

/**
 * Makes steps of `$apply` (OData Data Aggregation 4.0, section 3). Each transformation works on the columns that come
 * out of the transformation before it. All names in it are known to exist.
 */
class Pipeline {
  readonly #source: Source
  readonly #building: Building

  constructor(source: Source, building: Building) {
    this.#source = source
    this.#building = building
  }

  /** @throws EngineError where a transformation does not fit its columns, or all of them together are too many */
  read(sequence: Sequence, columns: readonly SqlColumn[]): Relation {
    const relation = this.#sequence(sequence, columns, TOP_LEVEL)
    checkSize(relation.steps)
    return relation
  }

  #sequence(sequence: Sequence, start: readonly SqlColumn[], scope: GroupScope): Relation {
    let relation: Relation = { steps: [], columns: start }
    let { mayBeEmpty } = scope
    for (const transformation of sequence) {
      // The columns to group by are still there, but a step may have given them other names in SQL.
      const partition = scope.partition.map(
        (key) => relation.columns.find(({ name }) => name === key.name) ?? key,
      )
      const { steps, columns, mayEmpty } = this.#transformed(transformation, relation.columns, {
        partition,
        mayBeEmpty,
      })
      relation = { steps: [...relation.steps, ...steps], columns }
      mayBeEmpty = mayEmpty ?? mayBeEmpty
    }
    return { ...relation, mayEmpty: mayBeEmpty }
  }

  #transformed(transformation: Transformation, columns: readonly SqlColumn[], scope: GroupScope): Relation {
    const building = this.#building
    switch (transformation.kind) {
      case 'identity':
        return { steps: [], columns }
      case 'filter': {
        const { sql: condition } = this.#value(transformation.condition, columns, 'filter')
        return { steps: [{ kind: 'filter', condition }], columns, mayEmpty: true }
      }
      case 'search': {
        const condition = searchCondition(transformation.search, columns, building)
        return { steps: [{ kind: 'filter', condition }], columns, mayEmpty: true }
      }
      case 'compute': {
        requireNew(transformation.computed, columns)
        const added = transformation.computed.map(({ expression, name }) =>
          this.#added(name, asColumn(this.#value(expression, columns), building)),
        )
        return { steps: [{ kind: 'compute', added }], columns: [...columns, ...added] }
      }
      case 'orderby': {
        const by = transformation.items.map(({ expression, descending }) =>
          keyOf(this.#value(expression, columns), descending, columns, building),
        )
        return { steps: [{ kind: 'order', by }], columns }
      }
      case 'top':
      case 'skip':
        return windowed(transformation.kind, countOf(transformation.count), columns, scope)
      case 'keep':
        return this.#keepRows(transformation, columns, scope)
      case 'aggregate': {
        const { partition, mayBeEmpty } = scope
        // The standard wants one row for a group that is empty, but such a group is no longer in our data.
        if (mayBeEmpty && partition.length > 0) {
          throw invalid(
            transformation.at,
            'in a group of groupby(), aggregate() must not follow a step that may leave no row. Put that step before ' +
              'groupby() or after aggregate().',
          )
        }
        requireNew(transformation.aggregated, partition)
        const added = transformation.aggregated.map(({ what, name }) => {
          if (what === '$count') return this.#added(name, COUNT)
          const row = findMethod(what.method)
          return this.#added(name, aggregate(row, this.#value(what.expression, columns), building))
        })
        return group(partition, added)
      }
      case 'groupby':
        return this.#grouped(transformation, columns, scope)
      case 'concat': {
        const branches = this.#branches(transformation.branches, columns, scope)
        const mayEmpty = branches.every((branch) => branch.mayEmpty)
        return { ...concatenated(branches, transformation.at, building), mayEmpty }
      }
      default:
        return transformation satisfies never
    }
  }

  #value(syntax: Syntax, columns: readonly SqlColumn[], kind: 'filter' | 'value' = 'value'): Value {
    return this.#building.value(this.#source, syntax, columns, kind)
  }

  #added({ name }: Name, column: Pick<AddedColumn, 'type' | 'value'>): AddedColumn {
    return { name, sql: this.#building.newName(), ...column }
  }

  /** The branches of concat(). Those that say the same are one, so that its rows are read once. */
  #branches(
    branches: readonly Sequence[],
    columns: readonly SqlColumn[],
    scope: GroupScope,
  ): readonly Relation[] {
    const known = new Map<string, Relation>()
    return branches.map((branch) => {
      const key = withoutPositions(branch)
      const transformed = known.get(key) ?? this.#sequence(branch, columns, scope)
      known.set(key, transformed)
      return transformed
    })
  }

  #grouped(
    { elements, sequence, at }: Extract<Transformation, { kind: 'groupby' }>,
    columns: readonly SqlColumn[],
    scope: GroupScope,
  ): Relation {
    const groupings = groupingsOf(elements, columns)
    const branches = groupings.map((keys) => this.#groupedBy(keys, sequence, columns, scope))
    // A group that had no rows before contains no inner groups, so it stays empty.
    const mayEmpty = scope.mayBeEmpty || branches.some((branch) => branch.mayEmpty)
    if (branches.length === 1) return { ...branches[0]!, mayEmpty }
    return { ...concatenated(branches, at, this.#building), mayEmpty }
  }

  #groupedBy(
    keys: Keys,
    sequence: Sequence | undefined,
    columns: readonly SqlColumn[],
    scope: GroupScope,
  ): Relation {
    // The two zeros are one group, and which of them is shown could differ.
    if (this.#building.dialect.name !== 'duckdb' && keys.some(({ type }) => type === 'double')) {
      throw new NotTranslatable('groups of double')
    }
    this.#building.noteColumns(keys)
    const partition = [...scope.partition, ...keys.filter((key) => !scope.partition.includes(key))]
    return sequence
      ? this.#sequence(sequence, columns, { partition, mayBeEmpty: false })
      : group(partition, [])
  }

  #keepRows(keep: Keep, columns: readonly SqlColumn[], { partition, mayBeEmpty }: GroupScope): Relation {
    const { end, until } = keep
    const amount = this.#amount(keep)
    const value = this.#value(keep.value, columns)
    if (until !== 'count' && !isNumeric(value.type)) {
      throw mistyped(value.at, `${end}${until}() adds numbers, but this is ${typeName(value.type)}.`)
    }
    const step: Step = {
      kind: 'keep',
      by: keyOf(value, end === 'top', columns, this.#building),
      until,
      amount,
      partition: partition.map(({ sql }) => sql),
    }
    const isSure = until === 'count' && numberOf(keep.amount) !== undefined
    return { steps: [step], columns, mayEmpty: mayBeEmpty || !isSure }
  }

  /** The first argument, a number of rows, a percentage or a sum: an expression without columns. */
  #amount({ until, amount }: Keep): string {
    const number = numberOf(amount)
    if (number && until === 'count') {
      checkRows(number, 1n, amount.at)
      return String(number.digits)
    }
    if (number && until === 'percent') checkPercentage(number, amount.at)
    if (columnsOf(amount).size > 0) {
      throw invalid(amount.at, 'this number is one for all rows, so it can use no columns.')
    }
    const value = this.#value(amount, [])
    if (until === 'count' ? value.type.kind !== 'integer' : !isNumeric(value.type)) {
      throw invalid(amount.at, `${until === 'count' ? 'a whole number' : 'a number'} is expected here.`)
    }
    return asColumn(value, this.#building).value
  }
}

const COUNT = { type: 'integer', value: 'count(*)' } as const

const POSITIONS: ReadonlySet<string> = new Set(['at', 'end', 'operatorAt'])

function withoutPositions(sequence: Sequence): string {
  return JSON.stringify(sequence, (key, value: unknown) => {
    if (POSITIONS.has(key) && typeof value === 'number') return undefined
    return typeof value === 'bigint' ? `${value}n` : value
  })
}

function windowed(
  kind: 'top' | 'skip',
  count: number,
  columns: readonly SqlColumn[],
  { partition, mayBeEmpty }: GroupScope,
): Relation {
  const step: Step = {
    kind: 'window',
    skip: kind === 'skip' ? count : 0,
    top: kind === 'top' ? count : undefined,
    partition: partition.map(({ sql }) => sql),
  }
  return { steps: [step], columns, mayEmpty: mayBeEmpty || (kind === 'top' ? count === 0 : count > 0) }
}

type NumberLiteral = Extract<LiteralValue, { kind: 'number' }>

function numberOf(syntax: Syntax): NumberLiteral | undefined {
  return syntax.kind === 'literal' && syntax.value.kind === 'number' ? syntax.value : undefined
}

/** A number of rows that may be none. */
function countOf(syntax: Syntax): number {
  const number = numberOf(syntax)
  if (!number) throw invalid(syntax.at, 'a number is expected here.')
  checkRows(number, 0n, syntax.at)
  return Number(number.digits)
}

const MOST_ROWS = BigInt(Number.MAX_SAFE_INTEGER)

function checkRows({ whole, digits }: NumberLiteral, least: 0n | 1n, at: number): void {
  const range = least === 0n ? 'that is not negative' : 'above 0'
  if (!whole || digits < least) throw invalid(at, `the number of rows must be a whole number ${range}.`)
  if (digits > MOST_ROWS) throw invalid(at, `the number of rows must be at most ${MOST_ROWS}.`)
}

const HUNDRED: NumberLiteral = { kind: 'number', digits: 100n, scale: 0, whole: true }

function checkPercentage(number: NumberLiteral, at: number): void {
  if (number.digits <= 0n || compareNumbers('gt', number, HUNDRED)) {
    throw invalid(at, 'the percentage must be a number above 0 and up to 100.')
  }
}
