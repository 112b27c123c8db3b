import { expect, it } from 'vitest'
import { basic } from '../server/platform.ts'
import { service } from './asked.ts'

const at = service()

const status = async (path: string, headers: Record<string, string> = {}) =>
  (await fetch(at.address + path, { headers })).status
const PATHS = [
  '/repositories',
  '/datasets',
  '/datasets/1/data',
  '/providers',
  '/providers/fred/browse',
  '/nowhere',
]

it('every path needs the key', async () => {
  for (const path of PATHS) expect(await status(path), path).toBe(401)
})

it('the key is the user of Basic authentication, or the parameter apiKey, on every path', async () => {
  for (const path of PATHS) {
    expect(await status(path, { authorization: basic(at.ada) }), path).not.toBe(401)
    expect(await status(`${path}?apiKey=${at.ada}`), path).not.toBe(401)
  }
})

it('an unknown key and a key in place of the password are 401', async () => {
  const wrong = await at.get('/repositories', 'pq_unknown')
  expect(wrong.status).toBe(401)
  expect(wrong.json).toEqual({ error: expect.any(String), code: expect.any(String) })
  expect(await status('/repositories', { authorization: basic('', at.ada) })).toBe(401)
  expect(await status('/repositories', { authorization: basic('ada', at.ada) })).toBe(401)
})

it('a new key ends the old one at once', async () => {
  const old = await at.at.account('grace')
  const { json } = await at.ask(old, 'POST', '/account/api-key')
  expect((await at.get('/repositories', old)).status).toBe(401)
  expect((await at.get('/repositories', json.apiKey)).status).toBe(200)
})

it('without permission the right key is 403, to read what is private and to write what may be read', async () => {
  const closed = await at.table('n\n1\n', { private: true })
  for (const path of [`/repositories/${closed.repositoryId}`, `/datasets/${closed.id}/data`]) {
    expect((await at.get(path, at.eve)).status, path).toBe(403)
  }
  const open = await at.table('n\n1\n')
  expect((await at.get(`/datasets/${open.id}/data`, at.eve)).status).toBe(200)
  expect((await at.ask(at.eve, 'DELETE', `/datasets/${open.id}`)).status).toBe(403)
})
