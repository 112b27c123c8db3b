import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dataset, type Platform, platform } from '../server/platform.ts'

const ROWS = 20_000

let at: Platform
let key: string
let root: string
beforeAll(async () => {
  at = await platform()
  key = await at.account('ada')
  const csv = `n,text\n${Array.from({ length: ROWS }, (_, n) => `${n},row ${n % 100}\n`).join('')}`
  const made = await dataset(at, key, { name: 'numbers', csv })
  root = `/repositories/${made.repository}/odata`
})
afterAll(() => at[Symbol.asyncDispose]())

const CODINGS = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }

test.each([
  ['/numbers'],
  ['/numbers?$count=true'],
  ['/numbers?$count=true&$filter=n lt 15000'],
  ['/numbers?$filter=n lt 3'],
  ['/numbers?$count=true&$top=0'],
  ['/numbers?$select=n&$orderby=n desc&$top=12000'],
])('%s is the same text in every coding', async (path) => {
  const plain = await at.call(key, 'GET', encodeURI(root + path), {
    headers: { 'accept-encoding': 'identity' },
  })
  expect(plain.statusCode, plain.body).toBe(200)
  const { value } = plain.json()
  expect(value.length).toBeLessThanOrEqual(ROWS)
  for (const [coding, decode] of Object.entries(CODINGS)) {
    const sent = await at.call(key, 'GET', encodeURI(root + path), { headers: { 'accept-encoding': coding } })
    expect(sent.headers['content-encoding']).toBe(coding)
    expect(decode(sent.rawPayload).toString()).toBe(plain.body)
  }
})
