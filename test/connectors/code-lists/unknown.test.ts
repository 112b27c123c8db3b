import { expect, it } from 'vitest'
import { PUBLISHED_LISTS } from './lists.ts'
import { unknownCodes } from './unknown.ts'

const RECORDED = PUBLISHED_LISTS.filter(({ recorded }) => recorded !== undefined)

it.each(RECORDED)('every code of $list is known as $provider means it', (list) => {
  expect(unknownCodes(list, list.recorded!)).toEqual([])
})

it('names a code that means something else, and one that means nothing to us', () => {
  expect(unknownCodes({ provider: 'oecd', kind: 'frequency' }, { T: 'Quarterly', Y9: 'Each moon' })).toEqual([
    { code: 'T', name: 'Quarterly', read: 'four-monthly' },
    { code: 'Y9', name: 'Each moon', read: null },
  ])
  expect(unknownCodes({ provider: 'insee', kind: 'frequency' }, { T: 'Monthly' })).toEqual([
    { code: 'T', name: 'Monthly', read: 'quarterly' },
  ])
  expect(unknownCodes({ provider: 'ilo', kind: 'status' }, { R: 'Break in series' })).toEqual([
    { code: 'R', name: 'Break in series', read: 'real value' },
  ])
  expect(
    unknownCodes({ provider: 'oecd', kind: 'status' }, { R: 'Real value', P: 'Provisional value' }),
  ).toEqual([{ code: 'R', name: 'Real value', read: 'revised' }])
})
