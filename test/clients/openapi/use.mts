// Uploads and reads through the types that openapi-typescript has made of our OpenAPI document. `tsc` checks it first.
import createClient from 'openapi-fetch'
import type { paths } from './api.d.ts'

const [address, key] = process.argv.slice(2) as [string, string]
const client = createClient<paths>({ baseUrl: address, headers: { 'x-api-key': key } })

const repository = await client.POST('/repositories', { body: { name: 'typescript' } })
if (!repository.data) throw new Error(repository.error.error)
const made = await client.POST('/datasets', { body: { name: 'prices', repositoryId: repository.data.id } })
if (!made.data) throw new Error(made.error.error)
const path = { id: made.data.id }

const asObjects = await client.PUT('/datasets/{id}/data', {
  params: { path },
  body: { rows: [{ n: 1, t: 'é' }] },
})
if (!asObjects.data) throw new Error(asObjects.error.error)
const asLists = await client.POST('/datasets/{id}/data', { params: { path }, body: { rows: [[2, null]] } })
if (!asLists.data) throw new Error(asLists.error.error)
const asFile = await client.POST('/datasets/{id}/data', {
  params: { path },
  headers: { 'content-type': 'text/csv' },
  body: 'n,t\n3,x\n',
  bodySerializer: (body) => body,
})
if (!asFile.data) throw new Error(asFile.error.error)
const types = asFile.data.columns.map(({ type }) => type)
console.log(`uploaded ${asFile.data.rowCount} ${types.join()}`)

const read = await client.GET('/datasets/{id}/data', {
  params: { path, query: { $filter: 'n gt 1', $format: 'csv', $delimiter: ';' } },
  parseAs: 'text',
})
console.log(`read ${JSON.stringify(read.data)}`)

const refused = await client.GET('/datasets/{id}', { params: { path: { id: 999_999 } } })
console.log(`refused ${refused.error?.code}`)
