import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../../server/config/read.ts'
import { dataset, platform } from '../platform.ts'

const OURS = 'https://tables.example.org'
const OTHER = { host: 'evil.example' }

test('addresses in answers begin with the configured one, whatever the Host header says', async () => {
  await using at = await platform({ config: { publicUrl: OURS } })
  const { id, repository } = await dataset(at, at.root, { csv: 'a\n1\n2\n' })
  const root = `/repositories/${repository}/odata/`
  const get = async (url: string) => (await at.call(at.root, 'GET', url, { headers: OTHER })).body
  const answers = [
    await get(root),
    await get(`/datasets/${id}/parquet`),
    await get(`/repositories/${repository}/odata.pbids`),
  ]
  for (const body of answers) {
    expect(body).toContain(`${OURS}/`)
    expect(body).not.toContain('evil')
  }
})

test('only a page of the configured address is one of this site', async () => {
  await using at = await platform({ config: { publicUrl: OURS } })
  const from = async (origin: string) =>
    (
      await at.call(at.root, 'POST', '/repositories', {
        json: { name: origin },
        headers: { ...OTHER, origin },
      })
    ).statusCode
  expect(await from(OURS)).toBe(201)
  expect(await from('http://evil.example')).toBe(403)
})

test.each([
  'tables.example.org',
  'ftp://a',
  'https://a/b',
  'https://a/',
  'https://u:p@a',
  'https://a?b',
])('a configured address is scheme and host, not %s', (text) => {
  expect(() => readConfig({}, { PARQUETRY_PUBLIC_URL: text })).toThrow(ConfigError)
})
