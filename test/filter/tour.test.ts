import { expect, test } from 'vitest'
import { check } from '../../engine/filter/check/check.ts'
import { Building } from '../../engine/filter/index.ts'
import { parseRule } from '../../engine/filter/syntax/parse.ts'
import { tokenize } from '../../engine/filter/syntax/tokens.ts'
import { column } from './support/table.ts'

/** One filter through every stage, each with what the one before it gave. */
test('text becomes tokens, a tree, a typed tree, and SQL with parameters', () => {
  const text = "Price gt 2.555 and not startswith(Name, 'M')"
  const columns = [column('Name', 'string', 0), column('Price', 'decimal(10,2)', 1)]

  const tokens = tokenize(text)
  expect(tokens.map((token) => `${token.tokenType.name} ${token.image}`)).toEqual([
    'Word Price',
    'gt gt',
    'number 2.555',
    'and and',
    'not not',
    'Word startswith',
    'LParen (',
    'Word Name',
    'Comma ,',
    "string 'M'",
    'RParen )',
  ])

  const tree = parseRule('expression', text)
  expect(tree).toEqual({
    kind: 'logical',
    operator: 'and',
    at: 0,
    end: 44,
    operands: [
      {
        kind: 'binary',
        operator: 'gt',
        operatorAt: 6,
        at: 0,
        end: 14,
        left: { kind: 'column', name: 'Price', at: 0, end: 5 },
        right: {
          kind: 'literal',
          at: 9,
          end: 14,
          value: { kind: 'number', digits: 2555n, scale: 3, whole: false },
        },
      },
      {
        kind: 'unary',
        operator: 'not',
        at: 19,
        end: 44,
        operand: {
          kind: 'call',
          name: 'startswith',
          at: 23,
          end: 44,
          args: [
            { kind: 'column', name: 'Name', at: 34, end: 38 },
            { kind: 'literal', at: 40, end: 43, value: { kind: 'string', value: 'M' } },
          ],
        },
      },
    ],
  })

  const typed = check(tree, columns, { text, option: 'Filter' }, () => new Date(), 'filter')
  expect(typed).toMatchObject({
    kind: 'logical',
    type: { kind: 'boolean' },
    operands: [
      {
        kind: 'comparison',
        left: { kind: 'column', sql: '"c1"', type: { kind: 'decimal', precision: 10, scale: 2 } },
        right: { kind: 'literal', type: { kind: 'decimal', precision: 4, scale: 3 } },
      },
      { kind: 'not', operand: { kind: 'call', name: 'startswith', type: { kind: 'boolean' } } },
    ],
  })

  // 2.555 has no counterpart of two places: what is greater than it is greater than 2.55.
  const building = new Building()
  expect(building.filter(text, columns)).toEqual({
    tree: typed,
    sql: `"c1" > CAST('2.55' AS DECIMAL(10,2)) AND NOT starts_with("c0", $1)`,
    parameters: ['M'],
  })
  expect([...building.reads].sort()).toEqual([0, 1])
})
