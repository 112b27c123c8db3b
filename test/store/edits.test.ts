import { expect, test } from 'vitest'
import type { Part } from '../../engine/catalog/records.ts'
import { editByKey } from '../../engine/store/edits.ts'
import type { Column, PartStatistics } from '../../engine/types/index.ts'

const column = (name: string, type: Column['type']): Column => ({
  name,
  type,
  nullable: true,
  description: '',
})
const COLUMNS = [column('n', 'integer'), column('word', 'string')]

let ids = 0
function part(...statistics: PartStatistics): Part {
  const each = { id: ++ids, rows: 10, bytes: 100, rawBytes: 100, hash: null }
  return { ...each, statistics: statistics.length > 0 ? statistics : null }
}
const from = (min: string | null, max: string | null, nulls = 0) => ({ min, max, nulls })

/** Whether an upsert by `n` looks for the keys of an upload in a part. */
const looks = (upload: Part, stored: Part, on = [0]) => editByKey([upload], COLUMNS, on, {}).mayHold(stored)

test('an upsert leaves out parts whose keys lie apart', () => {
  expect(looks(part(from('1', '5')), part(from('6', '9')))).toBe(false)
  expect(looks(part(from('10', '50')), part(from('2', '9')))).toBe(false)
  expect(looks(part(from('1', '5', 1)), part(from('6', '9')))).toBe(false)
  expect(looks(part(from('1', '5')), part(from('6', '9', 1)))).toBe(false)
  expect(looks(part(from('1', '5'), from('a', 'b')), part(from('1', '5'), from('c', 'd')), [0, 1])).toBe(
    false,
  )
})

test('an upsert looks into parts that have the keys of any part of the upload', () => {
  const upload = [part(from('1', '5')), part(from('8', '9'))]
  const { mayHold, condition } = editByKey(upload, COLUMNS, [0], {})
  expect(condition).toEqual({ like: upload, on: [0] })
  expect([part(from('9', '20')), part(from('6', '7'))].map(mayHold)).toEqual([true, false])
})

test.each([
  ['which overlap', part(from('1', '5')), part(from('5', '9'))],
  ['whose bounds nobody knows', part(from('1', '5')), part(from(null, null))],
  ['whose lower bound nobody knows', part(from('1', '5')), part(from(null, '9'))],
  ['whose upper bound nobody knows', part(from('7', '8')), part(from('1', null))],
  ['of an older program, without statistics', part(from('1', '5')), part()],
  ['which have nulls, as the upload has', part(from('1', '5', 1)), part(from('6', '9', 1))],
])('an upsert looks into parts %s', (_, upload, stored) => {
  expect(looks(upload, stored)).toBe(true)
  expect(looks(stored, upload)).toBe(true)
})
