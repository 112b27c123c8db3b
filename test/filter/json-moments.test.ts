import { expect, test } from 'vitest'
import { Table } from './support/table.ts'

test('a moment in json is read with and without seconds, in UTC where it has no offset', async () => {
  const moments = [
    ...['2024-02-29T10:00Z', '2024-02-29 12:00+02:00', '2024-02-29T10:00:00.000Z', '2024-02-29T10:00'],
    ...['2024-02-29', '10:00Z', 'soon'],
  ]
  await using table = await Table.create(
    { doc: 'json', local: 'timestamp' },
    moments.map((moment) => [JSON.stringify({ m: moment }), '2024-02-29 10:00:00']),
  )
  expect(await table.rows('doc/m eq 2024-02-29T10:00:00Z')).toEqual([0, 1, 2, 3])
  expect(await table.rows('hour(doc/m) eq 10')).toEqual([0, 1, 2, 3])
  expect(await table.rows('doc/m in (2024-02-29T00:00Z)')).toEqual([4])
  expect(await table.rows('doc/m eq local')).toEqual([0, 1, 2, 3])
})
