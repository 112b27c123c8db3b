import { afterAll, beforeAll, expect, test } from 'vitest'
import { LINK_SECONDS } from '../../../server/accounts/links.ts'
import { dataset, type Platform, platform } from '../platform.ts'

let at: Platform
let ada: string
let id: number
let time = Date.parse('2026-11-21T12:00:00Z')

beforeAll(async () => {
  at = await platform({ now: () => new Date(time) })
  ada = await at.account('ada')
  id = (await dataset(at, ada, { csv: 'a\n1\n2\n3\n' })).id
})
afterAll(() => at[Symbol.asyncDispose]())

async function linkTo(path: string, key = ada): Promise<string> {
  const made = await at.call(key, 'POST', '/links', { json: { path } })
  expect(made.statusCode).toBe(201)
  expect(made.headers.location).toBe(made.json().url)
  return made.json().url
}

test('a link opens one export without a key', async () => {
  const url = await linkTo(`/datasets/${id}/data?$filter=a%20gt%201`)
  const answer = await at.call(undefined, 'GET', url)
  expect(answer).toMatchObject({ statusCode: 200, body: 'a\n2\n3\n' })
  expect((await at.call(undefined, 'HEAD', url)).statusCode).toBe(200)
  expect((await at.call(undefined, 'GET', await linkTo(`/datasets/${id}/data`))).body).toBe('a\n1\n2\n3\n')
})

test('a changed link, or one of another method, is refused', async () => {
  const url = await linkTo(`/datasets/${id}/data?$top=1`)
  for (const changed of [
    url.replace('$top=1', '$top=2'),
    url.replace(/ticket=\d+/, 'ticket=1'),
    `${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`,
    url.replace('/data?', '?'),
    `${url}&$skip=1`,
  ]) {
    expect((await at.call(undefined, 'GET', changed)).statusCode, changed).toBe(401)
  }
  expect((await at.call(undefined, 'DELETE', url)).statusCode).toBe(401)
})

test('a link ends after its time', async () => {
  const url = await linkTo(`/datasets/${id}/data`)
  time += (LINK_SECONDS + 1) * 1000
  expect((await at.call(undefined, 'GET', url)).statusCode).toBe(401)
})

test('a link ends with the key of its account', async () => {
  const url = await linkTo(`/datasets/${id}/data`)
  ada = (await at.call(ada, 'POST', '/account/api-key')).json().apiKey
  expect((await at.call(undefined, 'GET', url)).statusCode).toBe(401)
})

test('a link reads no more than its account may', async () => {
  const { id: hidden } = await dataset(at, ada, { name: 'own', private: true })
  const url = await linkTo(`/datasets/${hidden}/data`, await at.account('eve'))
  expect((await at.call(undefined, 'GET', url)).statusCode).toBe(403)
})

test('only exports can be linked to', async () => {
  for (const path of [
    '/datasets',
    '/datasets/1',
    '/account',
    'https://example.org/',
    '/datasets/1/data\n',
    '',
  ]) {
    const answer = await at.call(ada, 'POST', '/links', { json: { path } })
    expect(answer, path).toMatchObject({ statusCode: 400 })
    expect(answer.json().code).toBe('invalid_body')
  }
})

test('a header decides alone, also beside a link', async () => {
  const url = await linkTo(`/datasets/${id}/data`)
  expect((await at.call('wrong', 'GET', url)).statusCode).toBe(401)
  expect((await at.call(ada, 'GET', url)).statusCode).toBe(200)
})
