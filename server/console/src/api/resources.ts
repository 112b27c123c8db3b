import { sendForJson } from './client.ts'
import type {
  Account,
  Category,
  Column,
  Dataset,
  Provider,
  Repository,
  Series,
  SeriesPage,
  UserKey,
} from './records.ts'

type Signal = AbortSignal | undefined

/** A name, id or series id as one or more path segments; slashes inside a series id stay slashes. */
function segments(text: string): string {
  return text.split('/').map(encodeURIComponent).join('/')
}

export const account = {
  get: (signal?: Signal, key?: string) => sendForJson<Account>('/account', { signal, key }),
  /** Ends the old key at once. The answer is the only place where the new one is ever shown. */
  rotateKey: () => sendForJson<{ apiKey: string }>('/account/api-key', { method: 'POST' }),
}

export interface RepositoryFields {
  readonly name: string
  readonly description: string
  readonly private: boolean
}

export const repositories = {
  list: (signal?: Signal) => sendForJson<Repository[]>('/repositories', { signal }),
  get: (id: number, signal?: Signal) => sendForJson<Repository>(`/repositories/${id}`, { signal }),
  create: (fields: RepositoryFields) =>
    sendForJson<Repository>('/repositories', { method: 'POST', json: fields }),
  update: (id: number, fields: RepositoryFields) =>
    sendForJson<Repository>(`/repositories/${id}`, { method: 'PUT', json: fields }),
  remove: (id: number) => sendForJson<void>(`/repositories/${id}`, { method: 'DELETE' }),
}

export interface NewDataset {
  readonly name: string
  readonly repositoryId: number
  readonly description?: string
  readonly columns?: readonly { readonly name: string; readonly type: string }[]
}

export const datasets = {
  list: (signal?: Signal) => sendForJson<Dataset[]>('/datasets', { signal }),
  get: (id: number, signal?: Signal) => sendForJson<Dataset>(`/datasets/${id}`, { signal }),
  create: (fields: NewDataset) => sendForJson<Dataset>('/datasets', { method: 'POST', json: fields }),
  update: (id: number, fields: { name: string; description: string }) =>
    sendForJson<Dataset>(`/datasets/${id}`, { method: 'PUT', json: fields }),
  remove: (id: number) => sendForJson<void>(`/datasets/${id}`, { method: 'DELETE' }),
  columns: (id: number, signal?: Signal) => sendForJson<Column[]>(`/datasets/${id}/columns`, { signal }),
  /** Has the server fetch series and put them after the rows, as provider, series_id, date and value. */
  addSeries: (id: number, provider: string, series: readonly string[]) =>
    sendForJson<Dataset>(`/datasets/${id}/data`, { method: 'POST', json: { provider, series } }),
}

export const providers = {
  list: (signal?: Signal) => sendForJson<Provider[]>('/providers', { signal }),
  get: (slug: string, signal?: Signal) =>
    sendForJson<Provider>(`/providers/${encodeURIComponent(slug)}`, { signal }),
  categories: async (slug: string, path: string, signal?: Signal) => {
    const query = path === '' ? '' : `?${new URLSearchParams({ path })}`
    const answer = await sendForJson<{ categories: Category[] }>(
      `/providers/${encodeURIComponent(slug)}/browse${query}`,
      { signal },
    )
    return answer.categories
  },
  seriesUnder: (slug: string, path: string, page: { limit: number; offset: number }, signal?: Signal) =>
    sendForJson<SeriesPage>(
      `/providers/${encodeURIComponent(slug)}/browse?${new URLSearchParams({
        path,
        series: 'true',
        limit: String(page.limit),
        offset: String(page.offset),
      })}`,
      { signal },
    ),
  series: (slug: string, id: string, signal?: Signal) =>
    sendForJson<Series>(`/providers/${encodeURIComponent(slug)}/series/${segments(id)}`, { signal }),
}

export const userKeys = {
  list: (signal?: Signal) => sendForJson<UserKey[]>('/user-keys', { signal }),
  save: (slug: string, key: string) =>
    sendForJson<unknown>(`/user-keys/${encodeURIComponent(slug)}`, { method: 'PUT', json: { key } }),
  remove: (slug: string) => sendForJson<void>(`/user-keys/${encodeURIComponent(slug)}`, { method: 'DELETE' }),
}
