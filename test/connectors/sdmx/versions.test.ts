import { expect, it } from 'vitest'
import { harness } from '../support/harness.ts'
import { structureMessage, xml } from './messages.ts'

const flow = (version: string) =>
  `<str:Dataflow id="EXR" agencyID="ECB" version="${version}"><com:Name>Rates</com:Name></str:Dataflow>`
const list = structureMessage(`<str:Dataflows>${['1.9', '1.10'].map(flow).join('')}</str:Dataflows>`)
const DATA =
  'KEY,FREQ,CURRENCY,TIME_PERIOD,OBS_VALUE,TITLE,SOURCE_AGENCY\nEXR.M.USD,M,USD,2026-01,1.1,Dollar,4F0\n'

it.each([
  ['an older one', 'ECB,EXR,1.9/M.USD', 'This is version 1.9 of the dataflow EXR; the newest is 1.10.'],
  ['the newest', 'ECB,EXR,1.10/M.USD', null],
  ['none', 'EXR/M.USD', null],
])('an id that names a version of a dataflow has a note if there is a newer one: %s', async (_, id, notes) => {
  await using at = await harness('ecb', {
    '*': ({ path }) => (path.includes('/dataflow') ? xml(list) : { type: 'text/csv', body: DATA }),
  })
  const series = await at.connectors.series('ecb', id)
  expect([series.notes, series.observations.length]).toEqual([notes, 1])
  const lists = at.upstream.requests.filter(({ path }) => path.includes('dataflow'))
  expect(lists.length).toBe(id.includes(',') ? 1 : 0)
})
