import { isDecimalType, isNumber, type Model, type Type } from './model.ts'
import { arithmeticType, commonDecimal } from './numbers.ts'
import { COLUMNS, type Pool, SAMPLES, type Sample } from './pools.ts'
import type { Random } from './random.ts'

/** What a random expression should be: a type, or any number. */
type Wanted = Exclude<Type, object> | 'decimal' | 'number'

/** Random expressions of a wanted type, none of which is refused for its types. */
export class Generator {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  condition(depth: number): Model {
    return this.#make('boolean', depth)
  }

  #make(wanted: Wanted, depth: number): Model {
    if (wanted === 'duration') return this.#duration(depth)
    if (depth <= 0 || this.#random.chance(0.15)) return this.#leaf(wanted)
    if (this.#random.chance(0.06)) return this.#choice(wanted, depth)
    switch (wanted) {
      case 'boolean':
        return this.#boolean(depth)
      case 'integer':
        return this.#integer(depth)
      case 'decimal':
      case 'double':
      case 'number':
        return this.#number(wanted, depth)
      case 'string':
        return this.#text(depth)
      case 'date':
      case 'timestamp':
      case 'timestamptz':
        return this.#moment(wanted, depth)
      case 'time':
        return this.#random.chance(0.4)
          ? apply('time', 'time', [this.#make(this.#random.pick(['timestamp', 'timestamptz']), depth - 1)])
          : this.#leaf('time')
      case 'uuid':
        return this.#leaf('uuid')
    }
  }

  #leaf(wanted: Exclude<Wanted, 'duration'>): Model {
    const kind = wanted === 'number' ? this.#random.pick(['integer', 'double', 'decimal'] as const) : wanted
    if (this.#random.chance(0.6)) {
      const columns = COLUMNS.filter(({ modelType }) =>
        kind === 'decimal' ? isDecimalType(modelType) : modelType === kind,
      )
      const { name, modelType } = this.#random.pick(columns)
      return { kind: 'column', type: modelType, name }
    }
    return this.#literal(kind)
  }

  #literal(kind: Exclude<Wanted, 'number' | 'duration'>): Model {
    if (this.#random.chance(0.05))
      return { kind: 'literal', type: kind === 'decimal' ? 'integer' : kind, value: null, text: 'null' }
    const pools: readonly Pool[] =
      kind === 'integer' ? ['integer', 'small'] : kind === 'decimal' ? ['decimal', 'fine'] : [kind]
    const sample = this.#random.pick<Sample>(SAMPLES[this.#random.pick(pools)])
    if (kind !== 'double') return literal(sample)
    // Without a point a number is an integer, with one a decimal; only INF and NaN are doubles by themselves.
    if (!Number.isFinite(sample.value)) return literal(sample)
    return literal(this.#random.pick<Sample>([...SAMPLES.double.slice(0, 3), ...SAMPLES.decimal]))
  }

  #boolean(depth: number): Model {
    const roll = this.#random.below(20)
    if (roll < 5) {
      const name = this.#random.pick(['and', 'or'])
      const count = 2 + this.#random.below(3)
      return apply(
        name,
        'boolean',
        Array.from({ length: count }, () => this.#make('boolean', depth - 1)),
      )
    }
    if (roll < 7) return apply('not', 'boolean', [this.#make('boolean', depth - 1)])
    if (roll < 10) return this.#list(depth)
    if (roll < 12) {
      const name = this.#random.pick(['contains', 'startswith', 'endswith'])
      return apply(name, 'boolean', [this.#make('string', depth - 1), this.#make('string', depth - 1)])
    }
    if (roll < 13) {
      const pattern = this.#random.pick([
        '^a',
        'b$',
        '.',
        '\\s',
        '^[^a-c]*$',
        '🎉',
        '(?:a|x)+',
        '\\u00e9',
        '^$',
        '\\p{L}{2}',
        "'",
      ])
      const text = `'${pattern.replaceAll("'", "''")}'`
      const literalPattern: Model = { kind: 'literal', type: 'string', value: pattern, text }
      return apply('matchesPattern', 'boolean', [this.#make('string', depth - 1), literalPattern])
    }
    return this.#comparison(depth)
  }

  #comparison(depth: number): Model {
    const name = this.#random.pick(['eq', 'ne', 'gt', 'ge', 'lt', 'le'])
    const kinds = [
      'number',
      'number',
      'number',
      'string',
      'boolean',
      'date',
      'time',
      'uuid',
      'moment',
      'duration',
    ] as const
    const kind = this.#random.pick(kinds)
    const side = (): Model =>
      this.#make(
        kind === 'moment' ? this.#random.pick(['date', 'timestamp', 'timestamptz']) : kind,
        depth - 1,
      )
    return apply(name, 'boolean', [side(), side()])
  }

  #list(depth: number): Model {
    const kind = this.#random.pick([
      'integer',
      'number',
      'string',
      'date',
      'timestamptz',
      'uuid',
      'boolean',
      'time',
    ] as const)
    const operand = this.#make(kind, depth - 1)
    const long = this.#random.chance(0.05)
    const count = long ? 10 + this.#random.below(90) : this.#random.below(5)
    const items = Array.from({ length: count }, () =>
      this.#literal(kind === 'number' ? this.#random.pick(['integer', 'decimal', 'double']) : kind),
    )
    return { kind: 'list', type: 'boolean', operand, items }
  }

  #choice(wanted: Exclude<Wanted, 'duration'>, depth: number): Model {
    const pairs = Array.from(
      { length: 1 + this.#random.below(3) },
      () => [this.#make('boolean', depth - 1), this.#make(wanted, depth - 1)] as const,
    )
    const results = pairs.map(([, result]) => result)
    // Of nothing but nulls, case() is null, and null goes everywhere; its type here is of no account.
    const real = results.filter((result) => result.kind !== 'literal' || result.value !== null)
    const counted = real.length > 0 ? real : results
    const beside = counted.find((result) => isDecimalType(result.type)) ?? counted[0]!
    const types = counted.map((result) => operandType(result, beside))
    return { kind: 'case', type: types.reduce(commonType), pairs }
  }

  #integer(depth: number): Model {
    const roll = this.#random.below(8)
    const inner = depth - 1
    switch (roll) {
      case 0:
        return apply('length', 'integer', [this.#make('string', inner)])
      case 1:
        return apply('indexof', 'integer', [this.#make('string', inner), this.#make('string', inner)])
      case 2: {
        const name = this.#random.pick(['year', 'month', 'day'])
        return apply(name, 'integer', [
          this.#make(this.#random.pick(['date', 'timestamp', 'timestamptz']), inner),
        ])
      }
      case 3: {
        const name = this.#random.pick(['hour', 'minute', 'second'])
        const kind = this.#random.pick(['date', 'timestamp', 'timestamptz', 'time'] as const)
        return apply(name, 'integer', [this.#make(kind, inner)])
      }
      case 4: {
        const arg = this.#make('integer', inner)
        // The smallest integer has no counterpart of its type.
        return arg.kind === 'literal' ? arg : apply('-', 'integer', [arg])
      }
      default: {
        const name = this.#random.pick(['add', 'sub', 'mul', 'div', 'mod'])
        return apply(name, 'integer', [this.#make('integer', inner), this.#make('integer', inner)])
      }
    }
  }

  #number(wanted: 'decimal' | 'double' | 'number', depth: number): Model {
    const inner = depth - 1
    const roll = this.#random.below(8)
    if (roll === 0 && wanted !== 'double') {
      return this.#random.chance(0.5)
        ? apply('fractionalseconds', { precision: 7, scale: 6 }, [
            this.#make(this.#random.pick(['time', 'timestamptz']), inner),
          ])
        : apply('totalseconds', { precision: 25, scale: 6 }, [this.#make('duration', inner)])
    }
    if (roll === 1) return negated(this.#make(wanted, inner))
    if (roll < 4) {
      const name = this.#random.pick(['round', 'floor', 'ceiling'])
      const arg = this.#make(wanted, inner)
      return apply(name, isDecimalType(arg.type) ? { precision: arg.type.precision, scale: 0 } : arg.type, [
        arg,
      ])
    }
    const name = this.#random.pick(['add', 'sub', 'mul', 'div', 'divby', 'mod'])
    const [a, b] = [this.#make(wanted, inner), this.#make('number', inner)]
    return apply(name, arithmeticType(name, operandType(a, b), operandType(b, a)), [a, b])
  }

  #text(depth: number): Model {
    const inner = depth - 1
    const name = this.#random.pick(['tolower', 'toupper', 'trim', 'concat', 'substring', 'substring'])
    const text = this.#make('string', inner)
    if (name === 'concat') return apply(name, 'string', [text, this.#make('string', inner)])
    if (name !== 'substring') return apply(name, 'string', [text])
    const numbers = Array.from({ length: 1 + this.#random.below(2) }, () =>
      this.#random.chance(0.7)
        ? literal(this.#random.pick(SAMPLES.small.slice(2)))
        : this.#make('integer', inner),
    )
    return apply(name, 'string', [text, ...numbers])
  }

  #moment(wanted: 'date' | 'timestamp' | 'timestamptz', depth: number): Model {
    if (wanted === 'date' && this.#random.chance(0.3)) {
      return apply('date', 'date', [this.#make(this.#random.pick(['timestamp', 'timestamptz']), depth - 1)])
    }
    if (this.#random.chance(0.5)) return this.#leaf(wanted)
    const name = this.#random.pick(['add', 'sub'])
    return apply(name, wanted, [this.#make(wanted, depth - 1), this.#duration(depth - 1)])
  }

  #duration(depth: number): Model {
    if (depth > 0 && this.#random.chance(0.4)) {
      const kinds = this.#random.pick([
        ['date', 'date'],
        ['timestamp', 'timestamptz'],
        ['timestamptz', 'timestamptz'],
        ['date', 'timestamp'],
      ] as const)
      return apply(
        'sub',
        'duration',
        kinds.map((kind) => this.#make(kind, depth - 1)),
      )
    }
    if (depth > 0 && this.#random.chance(0.2)) {
      const name = this.#random.pick(['mul', 'div', 'divby'])
      return apply(name, 'duration', [this.#duration(depth - 1), this.#make('integer', depth - 1)])
    }
    const [iso, micros] = this.#random.pick([
      ['P1D', 86_400_000_000n],
      ['-P1DT1S', -86_401_000_000n],
      ['PT0.5S', 500_000n],
      ['PT36H', 129_600_000_000n],
      ['PT0S', 0n],
    ] as const)
    return { kind: 'literal', type: 'duration', value: micros, text: `duration'${iso}'` }
  }
}

function literal(sample: Sample): Model {
  return { kind: 'literal', type: sample.type, value: sample.value, text: sample.text }
}

function apply(name: string, type: Type, args: readonly Model[]): Model {
  return { kind: 'apply', name, type, args }
}

function negated(arg: Model): Model {
  if (arg.kind === 'literal' && arg.type === 'integer') return arg
  return apply('-', arg.type, [arg])
}

/** A whole literal beside a decimal has as many digits as were written. */
function operandType(node: Model, beside: Model): Type {
  if (node.type !== 'integer' || !isDecimalType(beside.type)) return node.type
  const digits = literalDigits(node)
  return digits === undefined ? 'integer' : { precision: digits, scale: 0 }
}

function literalDigits(node: Model): number | undefined {
  if (node.kind === 'apply' && node.name === '-') return literalDigits(node.args[0]!)
  if (node.kind !== 'literal' || node.value === null) return undefined
  return String(node.value).replace('-', '').length
}

function commonType(a: Type, b: Type): Type {
  if (isNumber(a) && isNumber(b)) {
    if (a === 'double' || b === 'double') return 'double'
    return a === 'integer' && b === 'integer' ? 'integer' : commonDecimal(a, b)
  }
  return a
}
