import { tableFromArrays, tableToIPC } from 'apache-arrow'
import { expect, test } from 'vitest'
import { newDataset, openWorkplace } from '../engine/workplace.ts'

test('values that came from float32 are found by the digits that float32 shows, with a cast of the literal', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  const bytes = tableToIPC(
    tableFromArrays({ f: Float32Array.of(0.1, 3.3, -2.7, 16_777_217, 1e-40, 0.5) }),
    'stream',
  )
  await dataset.replace({
    format: 'arrow',
    body: (async function* () {
      yield bytes
    })(),
  })
  const found = async (filter: string) => {
    using query = await dataset.query({ filter })
    return query.count()
  }
  expect(await found('f eq 0.1')).toBe(0)
  expect(await found('f eq 0.10000000149011612')).toBe(1)
  for (const digits of ['0.1', '3.3', '-2.7', '16777217', '1e-40', '0.5']) {
    expect(await found(`f eq cast(${digits}, Edm.Single)`), digits).toBe(1)
  }
  expect(await found('f in (0.1, 3.3)')).toBe(0)
  expect(await found('cast(0.1, Edm.Single) eq f or f gt cast(3.3, Edm.Single)')).toBe(2)
})
