import type { TokenType } from 'chevrotain'
import { ExpressionRules } from './expression-rules.ts'
import * as T from './tokens.ts'
import { isA, type Token } from './tokens.ts'
import type {
  Aggregated,
  Computed,
  GroupingElement,
  Name,
  NameItem,
  OrderItem,
  Search,
  Sequence,
  Transform,
  Transformation,
} from './tree.ts'

const SEARCH_OPERATORS: ReadonlySet<unknown> = new Set([T.SearchAnd, T.SearchOr, T.SearchNot])

/** The grammar of all options of a query that are texts. */
export class Grammar extends ExpressionRules {
  /** @param skipValidations whether chevrotain skips checks of the grammar itself, which only tests need */
  constructor(skipValidations = true) {
    super(skipValidations)
    this.performSelfAnalysis()
  }

  /** `Price mul 2 as Twice, …` */
  readonly compute = this.RULE('compute', (): readonly Computed[] =>
    this.separated(() => this.SUBRULE(this.computed)),
  )

  readonly computed = this.RULE(
    'computed',
    (): Computed => ({ expression: this.SUBRULE(this.expression), name: this.#asName() }),
  )

  #asName(): Name {
    this.CONSUME(T.As)
    return this.#name()
  }

  #name(): Name {
    return this.build.name(this.CONSUME(T.Name))
  }

  /** `Price desc, tolower(Name)` */
  readonly orderby = this.RULE('orderby', (): readonly OrderItem[] =>
    this.separated(() => this.SUBRULE(this.orderItem)),
  )

  readonly orderItem = this.RULE('orderItem', (): OrderItem => {
    const expression = this.SUBRULE(this.expression)
    const direction = this.OPTION(() =>
      this.OR([{ ALT: () => this.CONSUME(T.Asc) }, { ALT: () => this.CONSUME(T.Desc) }]),
    )
    return { expression, descending: direction?.tokenType === T.Desc }
  })

  /** Plain names, which need no quotes: `Unit price desc, "a,b"` */
  readonly names = this.RULE('names', (): readonly NameItem[] =>
    this.separated(() => {
      const name = this.CONSUME(T.Name)
      const direction = this.OPTION(() => this.CONSUME(T.Direction))
      return this.build.nameItem(name, direction)
    }),
  )

  /** `coffee OR "green tea" NOT sugar` (section 5.1.7) */
  readonly search = this.RULE('search', (): Search => {
    const operands = [this.SUBRULE(this.searchAll)]
    this.MANY({
      GATE: () => this.#isSearchOperator(),
      DEF: () => {
        this.CONSUME(T.SearchOr)
        operands.push(this.SUBRULE2(this.searchAll))
      },
    })
    return joined('or', operands)
  })

  /** `AND` between words may be left out. */
  readonly searchAll = this.RULE('searchAll', (): Search => {
    const operands = [this.SUBRULE(this.searchOperand)]
    this.MANY({
      GATE: () => this.LA(1).tokenType !== T.SearchOr || !this.#isSearchOperator(),
      DEF: () => {
        this.OPTION({ GATE: () => this.#isSearchOperator(), DEF: () => this.CONSUME(T.SearchAnd) })
        operands.push(this.SUBRULE2(this.searchOperand))
      },
    })
    return joined('and', operands)
  })

  readonly searchOperand = this.RULE(
    'searchOperand',
    (): Search =>
      this.OR([
        {
          GATE: () => this.#isSearchOperator(),
          ALT: (): Search => {
            this.CONSUME(T.SearchNot)
            return { kind: 'not', operand: this.SUBRULE(this.searchOperand) }
          },
        },
        {
          ALT: () => {
            this.CONSUME(T.SearchLParen)
            const inner = this.SUBRULE(this.search)
            this.CONSUME(T.SearchRParen)
            return inner
          },
        },
        { ALT: () => this.build.searchWord(this.CONSUME(T.SearchWord)) },
      ]),
  )

  /**
   * Whether AND, OR or NOT is an operator here rather than a word: something to search for follows it, or stands before it
   * and is not itself such a word.
   */
  #isSearchOperator(): boolean {
    const [before, next] = [this.LA(0), this.LA(2)]
    if (next.tokenType === T.SearchLParen || isA(next, T.SearchWord)) return true
    return (
      before.tokenType === T.SearchRParen ||
      (isA(before, T.SearchWord) && !SEARCH_OPERATORS.has(before.tokenType))
    )
  }

  /** `filter(Price gt 5)/groupby((City),aggregate(Price with sum as Total))` (Data Aggregation 4.0, section 3) */
  readonly apply = this.RULE('apply', (): Sequence => {
    const steps: Transformation[] = []
    this.AT_LEAST_ONE_SEP({ SEP: T.Slash, DEF: () => steps.push(this.SUBRULE(this.transformation)) })
    return steps
  })

  readonly transformation = this.RULE(
    'transformation',
    (): Transformation =>
      this.OR([
        { ALT: (): Transformation => ({ kind: 'identity', at: this.CONSUME(T.Identity).startOffset }) },
        { ALT: () => this.SUBRULE(this.searchTrafo) },
        { ALT: () => this.SUBRULE(this.filterTrafo) },
        { ALT: () => this.SUBRULE(this.computeTrafo) },
        { ALT: () => this.SUBRULE(this.orderbyTrafo) },
        { ALT: () => this.SUBRULE(this.windowTrafo) },
        { ALT: () => this.SUBRULE(this.keepTrafo) },
        { ALT: () => this.SUBRULE(this.aggregateTrafo) },
        { ALT: () => this.SUBRULE(this.groupbyTrafo) },
        { ALT: () => this.SUBRULE(this.concatTrafo) },
      ]),
  )

  readonly searchTrafo = this.RULE('searchTrafo', (): Transformation => {
    const { startOffset: at } = this.CONSUME(T.SearchOpen)
    const search = this.SUBRULE(this.search)
    this.CONSUME(T.SearchRParen)
    return { kind: 'search', search, at }
  })

  readonly filterTrafo = this.#transformation('filterTrafo', T.Filter, () => ({
    kind: 'filter',
    condition: this.SUBRULE(this.expression),
  }))

  readonly computeTrafo = this.#transformation('computeTrafo', T.Compute, () => ({
    kind: 'compute',
    computed: this.SUBRULE(this.compute),
  }))

  readonly orderbyTrafo = this.#transformation('orderbyTrafo', T.OrderBy, () => ({
    kind: 'orderby',
    items: this.SUBRULE(this.orderby),
  }))

  readonly windowTrafo = this.#transformation('windowTrafo', T.WindowKeyword, (name) =>
    this.build.window(name, this.SUBRULE(this.expression)),
  )

  readonly keepTrafo = this.#transformation('keepTrafo', T.KeepKeyword, (name) => {
    const amount = this.SUBRULE(this.expression)
    this.CONSUME(T.Comma)
    return this.build.keep(name, amount, this.SUBRULE2(this.expression))
  })

  readonly aggregateTrafo = this.#transformation('aggregateTrafo', T.Aggregate, () => ({
    kind: 'aggregate',
    aggregated: this.separated(() => this.SUBRULE(this.aggregated)),
  }))

  /** `Price with sum as Total`, `$count as Number` */
  readonly aggregated = this.RULE('aggregated', (): Aggregated => {
    const what = this.OR([
      {
        ALT: (): Aggregated['what'] => {
          this.CONSUME(T.Count)
          return '$count'
        },
      },
      {
        ALT: () => {
          const expression = this.SUBRULE(this.expression)
          this.CONSUME(T.With)
          return { expression, method: this.build.name(this.CONSUME2(T.Name)) }
        },
      },
    ])
    return { what, name: this.#asName() }
  })

  readonly groupbyTrafo = this.#transformation('groupbyTrafo', T.GroupBy, () => {
    const elements = this.SUBRULE(this.groupbyList)
    const sequence = this.OPTION(() => {
      this.CONSUME(T.Comma)
      return this.SUBRULE(this.apply)
    })
    return { kind: 'groupby', elements, sequence }
  })

  /** `(a,rollup(b,c))` */
  readonly groupbyList = this.RULE('groupbyList', (): readonly GroupingElement[] =>
    this.#parenthesised(() => this.separated(() => this.SUBRULE(this.groupbyElement))),
  )

  readonly groupbyElement = this.RULE(
    'groupbyElement',
    (): GroupingElement =>
      this.OR([
        {
          ALT: () => {
            const { startOffset: at } = this.CONSUME(T.Rollup)
            const names = this.#parenthesised(() => this.separated(() => this.#name()))
            return { names, rollup: true, at }
          },
        },
        { ALT: () => this.build.groupingColumn(this.CONSUME2(T.Name)) },
      ]),
  )

  readonly concatTrafo = this.#transformation('concatTrafo', T.Concat, () => {
    const branches = [this.SUBRULE(this.apply)]
    this.AT_LEAST_ONE(() => {
      this.CONSUME(T.Comma)
      branches.push(this.SUBRULE2(this.apply))
    })
    return { kind: 'concat', branches }
  })

  /** A transformation whose name is followed by something in parentheses. */
  #transformation(rule: string, name: TokenType, inner: (name: Token) => Transform) {
    return this.RULE(rule, (): Transformation => {
      const token = this.CONSUME(name)
      return { ...this.#parenthesised(() => inner(token)), at: token.startOffset }
    })
  }

  #parenthesised<T>(inner: () => T): T {
    this.CONSUME(T.LParen)
    const value = inner()
    this.CONSUME(T.RParen)
    return value
  }
}

function joined(kind: 'and' | 'or', operands: readonly Search[]): Search {
  return operands.length === 1 ? operands[0]! : { kind, operands }
}
