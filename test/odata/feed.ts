import { expect } from 'vitest'
import { dataset, platform } from '../server/platform.ts'

export const CSV = 'Body Mass (g),Row,day\n1.5,a,2020-01-01\n,b,\n3,,2021-02-03\n'

export const encoded = (url: string) => encodeURI(url).replaceAll('+', '%2B')

/** A platform whose account ada has a table `my table` of three rows. `root` is the service of its repository. */
export async function openFeed() {
  const at = await platform()
  const key = await at.account('ada')
  const { id, repository } = await dataset(at, key, { name: 'my table', csv: CSV })
  const root = `/repositories/${repository}/odata`
  const get = (path: string, headers: Record<string, string> = {}) =>
    at.call(key, 'GET', encoded(root + path), { headers })
  const value = async (path: string) => {
    const response = await get(path)
    expect(response.statusCode, response.body).toBe(200)
    return response.json().value
  }
  return { at, key, id, root, get, value, [Symbol.asyncDispose]: () => at[Symbol.asyncDispose]() }
}
