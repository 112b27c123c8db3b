import { tableFromArrays, tableToIPC } from 'apache-arrow'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let id: number
beforeAll(async () => {
  at = await platform()
  id = (await dataset(at, at.root, { name: 'floats', csv: 'x\n1\n' })).id
  const body = Buffer.from(tableToIPC(tableFromArrays({ f: Float32Array.of(0.1, 0.5) }), 'stream'))
  const headers = { 'content-type': 'application/vnd.apache.arrow.stream' }
  await at.call(at.root, 'PUT', `/datasets/${id}/data?columns=replace`, { body, headers })
})
afterAll(() => at[Symbol.asyncDispose]())

const hint = async (filter: string, more = '') =>
  (await at.call(at.root, 'GET', `/datasets/${id}/data?$filter=${encodeURIComponent(filter)}${more}`))
    .headers['hint']

const SAYS =
  'A column that came from float32 holds 0.10000000149011612 for 0.1: compare with cast(0.1, Edm.Single).'

it.each(['f eq 0.1', '0.1 eq f', 'f gt 0 and f eq 1e-1'])('says how %s may match', async (filter) => {
  expect(await hint(filter)).toBe(SAYS)
  expect(await hint(filter), 'from memory').toBe(SAYS)
  expect(await hint(filter, '&$format=json&$count=true')).toBe(SAYS)
})

it.each([
  'f eq cast(0.1, Edm.Single)',
  'f eq 0.5',
  'f eq 0.25',
  'f eq 7',
  'f eq 1e300',
  'f gt 0.1',
  'f gt 1.1',
])('says nothing of %s', async (filter) => {
  expect(await hint(filter)).toBeUndefined()
})
