import type { Model } from './model.ts'
import type { Random } from './random.ts'

const PRECEDENCE: Readonly<Record<string, number>> = {
  or: 1,
  and: 2,
  eq: 3,
  ne: 3,
  gt: 4,
  ge: 4,
  lt: 4,
  le: 4,
  add: 5,
  sub: 5,
  mul: 6,
  div: 6,
  divby: 6,
  mod: 6,
  not: 7,
  '-': 7,
  list: 8,
}

const PRIMARY = 9

/** A model as a filter: parentheses only where precedence asks for them, and now and then for nothing. */
export function print(node: Model, random: Random): string {
  const show = (part: Model, least: number): string => {
    const text = bare(part)
    const needed = level(part) < least
    return needed || random.chance(0.03) ? `(${blanks(0)}${text}${blanks(0)})` : text
  }
  const blanks = (least: number): string =>
    random.chance(0.05) ? ' \t'.slice(0, 1 + least) : ' '.repeat(least)
  const anyCase = (word: string): string =>
    random.chance(0.1)
      ? [...word].map((letter) => (random.chance(0.5) ? letter.toUpperCase() : letter)).join('')
      : word
  const bare = (part: Model): string => {
    switch (part.kind) {
      case 'literal':
        return part.text
      case 'column':
        return needsQuotes(part.name) || random.chance(0.05)
          ? `"${part.name.replaceAll('"', '""')}"`
          : part.name
      case 'list': {
        const items = part.items.map((item) => (item as { text: string }).text).join(`,${blanks(0)}`)
        return `${show(part.operand, 8)}${blanks(1)}${anyCase('in')} (${items})`
      }
      case 'case': {
        const pairs = part.pairs.map(([when, result]) => `${show(when, 0)} : ${show(result, 0)}`)
        return `${anyCase('case')}(${pairs.join(',')})`
      }
      case 'apply':
        return applied(part)
    }
  }
  const applied = (part: Extract<Model, { kind: 'apply' }>): string => {
    const own = PRECEDENCE[part.name]
    if (own === undefined)
      return `${anyCase(part.name)}(${part.args.map((arg) => show(arg, 0)).join(`${blanks(0)},`)})`
    if (part.name === 'not') return `${anyCase('not')}${blanks(1)}${show(part.args[0]!, own)}`
    // A minus directly before digits would be part of the number.
    if (part.name === '-')
      return part.args[0]!.kind === 'literal' ? `-(${bare(part.args[0]!)})` : `-${show(part.args[0]!, own)}`
    const operator = anyCase(part.name)
    const [first, ...rest] = part.args
    return rest.reduce(
      (text, arg) => `${text}${blanks(1)}${operator}${blanks(1)}${show(arg, own + 1)}`,
      show(first!, own),
    )
  }
  return bare(node)
}

function level(node: Model): number {
  if (node.kind === 'list') return PRECEDENCE['list']!
  return node.kind === 'apply' ? (PRECEDENCE[node.name] ?? PRIMARY) : PRIMARY
}

/** `not` as a column is told from the operator by what follows, which a printer can't know. */
function needsQuotes(name: string): boolean {
  return name === 'not' || !/^[\p{L}_][\p{L}\d_]*$/u.test(name)
}
