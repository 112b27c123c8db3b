import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EncodedColumn } from '../../engine/export/formats/encoder.ts'
import { checkText, cutText } from '../../engine/export/formats/xlsx/limits.ts'
import { type Platform, platform } from '../server/platform.ts'

let at: Platform
let key: string
let root: string
let id: number

beforeAll(async () => {
  at = await platform()
  key = await at.account('ann')
  const repository = (await at.call(key, 'POST', '/repositories', { json: { name: 'large' } })).json().id
  root = `/repositories/${repository}/odata`
  const sql = `SELECT 1 AS n, repeat('x', 70000000) AS long, 'é' AS short`
  const json = { name: 'wide', repositoryId: repository, query: { sql } }
  id = (await at.call(key, 'POST', '/datasets', { json })).json().id
})
afterAll(() => at[Symbol.asyncDispose]())

describe('an answer that is too large', () => {
  test('is replaced by an error in its part of a batch, and the others are answered', {
    timeout: 600_000,
  }, async () => {
    const urls = ['wide?$select=n', 'wide', 'wide(1)?$select=short']
    const requests = urls.map((url, index) => ({ id: `${index}`, method: 'GET', url }))
    const { responses } = (await at.call(key, 'POST', `${root}/$batch`, { json: { requests } })).json()
    expect(responses.map(({ status }: { status: number }) => status)).toEqual([200, 413, 200])
    expect(responses[1].body.error.message).toMatch(/more than 64 MiB together/)
    expect(responses[2].body.short).toBe('é')
    const boundary = 'b'
    const parts = requests.map(({ url }) =>
      [`--${boundary}`, 'Content-Type: application/http', '', `GET ${url} HTTP/1.1`, '', ''].join('\r\n'),
    )
    const inParts = await at.call(key, 'POST', `${root}/$batch`, {
      body: `${parts.join('')}--${boundary}--\r\n`,
      headers: {
        'content-type': `multipart/mixed; boundary=${boundary}`,
        prefer: 'odata.continue-on-error',
      },
    })
    expect([...inParts.body.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      '200',
      '413',
      '200',
    ])
    // What was given up holds no place.
    expect(at.services.exports.slots.running).toBe(0)
  })

  test('of one entity names the property', { timeout: 600_000 }, async () => {
    for (const path of ['wide(1)', 'wide(1)/long/$value']) {
      const answer = await at.call(key, 'GET', `${root}/${path}`)
      expect([answer.statusCode, answer.json().error.target]).toEqual([413, 'long'])
    }
    expect((await at.call(key, 'GET', `${root}/wide(1)?$select=n,short`)).json()).toMatchObject({
      n: 1,
      short: 'é',
    })
  })
})

describe('a cell that is longer than a string can be', () => {
  const texts = { name: 'long', type: 'string' } as EncodedColumn

  test('is cut for a sheet, and its length is told', () => {
    const bytes = Buffer.alloc(2 ** 29 + 10, 'x')
    const cut = Buffer.from(cutText(texts, bytes, 5, bytes.length)!).toString()
    expect(cut).toMatch(/^x+… \[cut: 536,870,917 characters\]$/)
    expect(cut).toHaveLength(32_767)
    expect(() => checkText(texts, bytes, 0, bytes.length)).toThrow(/536,870,922/)
  })

  test('is counted in UTF-16 units', { timeout: 600_000 }, async () => {
    for (const one of ['x', 'é', '€', '😀', 'a😀€é']) {
      const text = one.repeat(40_000)
      const bytes = Buffer.from(text)
      const cut = Buffer.from(cutText(texts, bytes, 0, bytes.length)!).toString()
      expect(cut).toContain(`[cut: ${text.length.toLocaleString('en-US')} characters]`)
      expect(text.startsWith(cut.slice(0, cut.indexOf('… [cut')))).toBe(true)
      expect(cut.length).toBeGreaterThan(32_700)
      expect(cut.length).toBeLessThanOrEqual(32_767)
    }
    const answer = await at.call(key, 'GET', `/datasets/${id}/data?$format=xlsx&$overlong=cut`)
    expect(answer.statusCode).toBe(200)
  })
})
