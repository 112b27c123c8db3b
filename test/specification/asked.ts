import { afterAll, beforeAll } from 'vitest'
import { basic, type Overrides, type Platform, platform } from '../server/platform.ts'
import { routes } from '../server/series/fred.ts'

/** An answer, with its body read as JSON where it is JSON. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: the tests look into answers of every shape
  readonly json: any
}

export interface Asked {
  readonly at: Platform
  readonly address: string
  readonly ada: string
  readonly eve: string
  /** Sends a request with a key: JSON from a value, anything else as it is. */
  ask(key: string | undefined, method: string, path: string, body?: unknown, type?: string): Promise<Answer>
  get(path: string, key?: string): Promise<Answer>
  /** Makes a repository and gives its id. */
  repository(fields?: Record<string, unknown>, key?: string): Promise<number>
  /** Makes a dataset with rows in a repository of its own. */
  table(csv?: string, fields?: Record<string, unknown>): Promise<{ id: number; repositoryId: number }>
}

export const FREE = {
  privateRepositories: 1,
  publicRepositories: null,
  paidProviders: false,
  exportedRows: 25,
  datasets: null,
  columns: null,
  storedBytes: null,
  keptVersions: null,
  keptDays: null,
}
export const UNLIMITED = { ...FREE, privateRepositories: null, paidProviders: true, exportedRows: null }

/** The service over HTTP, as the specification speaks of it, with two accounts, for the tests of one file. */
export function service(config: Overrides = {}): Asked {
  const asked = {} as { -readonly [K in keyof Asked]: Asked[K] }
  beforeAll(async () => {
    const at = await platform({
      routes,
      config: {
        plans: { free: FREE, unlimited: UNLIMITED },
        providers: { fred: { key: 'the-key-of-the-service' }, alphavantage: { key: 'another-key' } },
        ...config,
      } as Overrides,
    })
    Object.assign(asked, {
      at,
      address: await at.listen(),
      ada: await at.account('ada'),
      eve: await at.account('eve', 'free'),
    })
  })
  afterAll(() => asked.at[Symbol.asyncDispose]())
  asked.ask = async (key, method, path, body, type = 'application/json') => {
    const response = await fetch(asked.address + path, {
      method,
      headers: {
        ...(key !== undefined && { authorization: basic(key) }),
        ...(body !== undefined && { 'content-type': type }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    }
  }
  asked.get = (path, key = asked.ada) => asked.ask(key, 'GET', path)
  asked.repository = async (fields = {}, key = asked.ada) =>
    (await asked.ask(key, 'POST', '/repositories', { name: 'tables', private: false, ...fields })).json.id
  asked.table = async (csv = 'n,word\n1,a\n2,b\n3,a\n', fields = {}) => {
    const repositoryId = await asked.repository(fields)
    const { id } = (await asked.ask(asked.ada, 'POST', '/datasets', { name: 'table', repositoryId })).json
    await asked.ask(asked.ada, 'PUT', `/datasets/${id}/data`, csv, 'text/csv')
    return { id, repositoryId }
  }
  return asked
}
