import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { connectors } from '../../connectors/providers/index.ts'
import { providerTable } from '../docs/pages/providers.ts'

const page = readFileSync(new URL('../../docs/providers.md', import.meta.url), 'utf8')

it('the page of the providers has the table that the connectors make', () => {
  const shown = /<!-- providers -->\n([\s\S]*?)\n<!-- \/providers -->/.exec(page)?.[1]
  expect(shown).toBe(providerTable(connectors))
})

it('the table says limits, keys and abilities as they are', () => {
  const row = (slug: string) => page.split('\n').find((line) => line.startsWith(`| \`${slug}\``))
  expect(row('bls')).toContain(
    '[optional](https://data.bls.gov/registrationEngine) | 25 in 1 d; with a key 50 in 10 s, 500 in 1 d |',
  )
  expect(row('fred')).toContain(
    '[required](https://fred.stlouisfed.org/docs/api/api_key.html) | 2 in 1 s, 120 in 1 min | search, vintages (`asOf`, `vintages`), calendar |',
  )
  expect(row('ecb')).toMatch(/\| none published \| .*wildcards/)
})
