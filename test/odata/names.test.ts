import fc from 'fast-check'
import { expect, test } from 'vitest'
import { identifiersFor } from '../../server/odata/model.ts'

test('what is an identifier keeps its name, whatever stands beside it', () => {
  expect(identifiersFor(['a b', 'a_b', 'größe', '日本語'])).toEqual(['a_b_1', 'a_b', 'größe', '日本語'])
})

test('characters that no identifier has become underscores', () => {
  expect(identifiersFor(['Body Mass (g)', '2020', '', 'a-b/c', '😀'])).toEqual([
    'Body_Mass__g_',
    '_2020',
    '_',
    'a_b_c',
    '__1',
  ])
})

test('names that differ only in case, and the names of others, are numbered', () => {
  expect(identifiersFor(['day', 'Day', 'DAY', 'Row'], ['Row'])).toEqual(['day', 'Day_1', 'DAY_2', 'Row_1'])
})

test('any names give different identifiers of at most 128 characters', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 200 }), { maxLength: 40 }), (names) => {
      const identifiers = identifiersFor(names, ['Row'])
      expect(identifiers).toHaveLength(names.length)
      expect(new Set(identifiers.map((one) => one.toLowerCase())).size).toBe(names.length)
      for (const one of identifiers) {
        expect(one).toMatch(/^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]{0,127}$/u)
        expect(one.toLowerCase()).not.toBe('row')
      }
    }),
  )
})
