import type { SqlColumn } from '../check/expression.ts'
import { invalid, LIMITS, tooComplex } from '../errors.ts'
import type { Building } from '../sql/compile.ts'
import { NotTranslatable } from '../sql/dialect.ts'
import type { Search } from '../syntax/tree.ts'

/** The most words of a `$search`. The number is limited because each word is looked for in every text column. */
const MOST_WORDS = 100

/**
 * A condition that holds where the text columns match a search expression (OData 4.01 part 2, section 5.1.7): its words
 * and phrases occur in one of them. Case and accents don't count, and a word may be part of a longer one.
 */
export function searchCondition(search: Search, columns: readonly SqlColumn[], building: Building): string {
  const { dialect } = building
  const texts = columns.filter(({ type }) => type === 'string')
  if (texts.length === 0) throw invalid(0, 'there is no text column to search in.')
  building.noteColumns(texts)
  let count = 0
  const condition = conditionOf(search, (word) => {
    count += 1
    if (count > MOST_WORDS) throw tooComplex(`The search has more than ${MOST_WORDS} words.`)
    const term = dialect.plain(building.parameter(word))
    const found = texts.map(({ sql }) => dialect.contains(dialect.plain(sql), term))
    return `coalesce(${found.join(' OR ')}, FALSE)`
  })
  if (condition.length > LIMITS.sql) {
    if (dialect.name !== 'duckdb') throw new NotTranslatable('$search for so many words')
    throw tooComplex('The search grows too long as SQL. Search for fewer words.')
  }
  return condition
}

function conditionOf(search: Search, word: (text: string) => string): string {
  switch (search.kind) {
    case 'word':
      return word(search.text)
    case 'not':
      return `(NOT ${conditionOf(search.operand, word)})`
    default: {
      const operands = search.operands.map((operand) => conditionOf(operand, word))
      return `(${operands.join(search.kind === 'or' ? ' OR ' : ' AND ')})`
    }
  }
}
