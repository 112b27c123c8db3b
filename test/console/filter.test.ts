import { describe, expect, it } from 'vitest'
import { CASE, functionTable } from '../../engine/filter/tables/functions.ts'
import type { Column } from '../../server/client/index.ts'
import { complete, FUNCTIONS } from '../../server/console/src/filter/complete.ts'
import { readConditions, writeConditions } from '../../server/console/src/filter/conditions.ts'
import { filterLiteral, tokenize } from '../../server/console/src/filter/syntax.ts'
import { bothFilters } from '../../server/console/src/view/view.ts'

const column = (name: string, type: Column['type']): Column => ({
  name,
  type,
  nullable: true,
  description: '',
})
const COLUMNS = [
  column('city', 'string'),
  column('Unit price', 'double'),
  column('day', 'date'),
  column('seen', 'timestamp'),
  column('open', 'boolean'),
]

function labelsAt(text: string): string[] {
  const caret = text.indexOf('|')
  const values = (name: string) => (name === 'city' ? ['Oslo', "L'Aquila"] : [])
  return complete(text.replace('|', ''), caret, COLUMNS, values).suggestions.map(({ label }) => label)
}

describe('completion of filters', () => {
  it('knows the functions of the engine, all of them and no others', () => {
    const known = [...functionTable.map(({ name }) => name), CASE.name].sort()
    expect(FUNCTIONS.map(({ name }) => name).sort()).toEqual(known)
  })

  it('begins with columns and functions', () => {
    expect(labelsAt('|')).toEqual(expect.arrayContaining(['city', 'Unit price', 'contains(text, part)']))
  })

  it('narrows by what is typed, beginnings first', () => {
    expect(labelsAt('c|').slice(0, 2)).toEqual(['city', 'contains(text, part)'])
    expect(labelsAt('tex|')).toEqual([])
  })

  it('offers comparisons after a column, and connectives after a comparison', () => {
    expect(labelsAt('city |')).toEqual(['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'in'])
    expect(labelsAt("city eq 'Oslo' |")).toEqual(['and', 'or'])
    expect(labelsAt("contains(city,'x') |")).toEqual(['and', 'or'])
    expect(labelsAt('length(city) |')).toContain('gt')
  })

  it('offers values that were seen, quoted as literals', () => {
    expect(labelsAt('city eq |')).toEqual(["'Oslo'", "'L''Aquila'", 'null'])
    expect(labelsAt('city in (|')).toContain("'Oslo'")
    expect(labelsAt('open eq |')).toEqual(['true', 'false', 'null'])
  })

  it('quotes names that are no identifiers', () => {
    const [first] = complete('uni', 3, COLUMNS, () => []).suggestions
    expect(first!.insert).toBe('"Unit price" ')
  })
})

describe('filters built by clicks', () => {
  it.each([
    ["city eq 'Oslo'"],
    ['"Unit price" ge 10.5 and city ne null'],
    ["contains(city,'a') or startswith(city,'b')"],
    ['day lt 2024-01-31 and open eq true'],
    ['seen ge 2024-01-31T12:00:00'],
    ['"Unit price" lt INF or "Unit price" eq -INF'],
  ])('reads and writes the same text: %s', (text) => {
    const conditions = readConditions(text, COLUMNS)!
    expect(writeConditions(conditions, COLUMNS)).toBe(text)
  })

  it.each([
    ["city eq 'a' and open eq true or day eq 2024-01-01"],
    ['length(city) gt 3'],
    ['not open'],
    ['city eq'],
  ])('leaves alone what lines can not say: %s', (text) => {
    expect(readConditions(text, COLUMNS)).toBeUndefined()
  })

  it('stay conditions of the form with another, unless one of them has an or', () => {
    expect(bothFilters('', 'open eq true')).toBe('open eq true')
    const both = bothFilters("city eq 'this or that'", 'open eq true')
    expect(both).toBe("city eq 'this or that' and open eq true")
    expect(readConditions(both, COLUMNS)!.list).toHaveLength(2)
    expect(bothFilters("city eq 'a' or city eq 'b'", 'open eq true')).toBe(
      "(city eq 'a' or city eq 'b') and open eq true",
    )
  })

  it('leaves lines without a value away', () => {
    const list = [{ column: 'city', operator: 'eq', value: '' } as const]
    expect(writeConditions({ join: 'and', list }, COLUMNS)).toBe('')
  })

  it.each([
    ['5', 'integer', '5'],
    ['.5', 'double', '0.5'],
    ['+7.', 'double', '7'],
    ['-INF', 'double', '-INF'],
    ['1E400', 'double', '1E400'],
    ["O'Hare", 'string', "'O''Hare'"],
    ['2024-01-31 12:00', 'timestamp', '2024-01-31T12:00:00'],
    ['2024-01-31 12:00', 'timestamptz', '2024-01-31T12:00:00Z'],
    ['2024-01-31', 'timestamp', '2024-01-31'],
    ['TRUE', 'boolean', 'true'],
  ])('writes %s as a literal of %s', (value, type, literal) => {
    expect(filterLiteral(value, type)).toBe(literal)
  })
})

describe('words of a filter', () => {
  it('cover everything but blanks, also where the text is broken', () => {
    const text = `length("a ""b") gt 5 and x eq 'open § "q`
    const tokens = tokenize(text)
    const covered = tokens.reduce(
      (rest, { start, end }) => rest.slice(0, start) + ' '.repeat(end - start) + rest.slice(end),
      text,
    )
    expect(covered.trim()).toBe('')
  })
})
