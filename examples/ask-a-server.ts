// The HTTP API through the client: a table goes up, rows come down, a file is fetched only when it has changed.
//
//   PARQUETRY_URL=http://127.0.0.1:8080 PARQUETRY_KEY=… node ask-a-server.ts
import { writeFile } from 'node:fs/promises'
import { Client, ParquetryError } from 'parquetry/client'

const client = new Client({
  url: process.env['PARQUETRY_URL'] ?? 'http://127.0.0.1:8080',
  key: process.env['PARQUETRY_KEY'] ?? '',
})

const repository = await client.repositories.create({ name: `example ${Date.now()}`, private: false })
const { id } = await client.datasets.create({ name: 'prices', repositoryId: repository.id })
const stored = await client.datasets.replace(id, {
  rows: [
    { day: '2026-01-01', price: 99 },
    { day: '2026-01-02', price: 101 },
    { day: '2026-01-03', price: 150 },
  ],
})
console.log(`prices: ${stored.rowCount} rows, version ${stored.version}`)

for await (const row of client.datasets.rows<{ day: string; price: number }>(id, {
  filter: 'price gt 100',
})) {
  console.log(`${row.day.slice(0, 10)}: ${row.price}`)
}

const first = await client.datasets.download(id, 'parquet')
await writeFile('prices.parquet', new Uint8Array(await first.arrayBuffer()))
const again = await client.datasets.download(id, 'parquet', { ifNoneMatch: first.etag })
console.log(again.modified ? 'changed meanwhile' : 'prices.parquet is up to date')

try {
  await client.datasets.count(id, { filter: 'Price gt 100' })
} catch (error) {
  if (!(error instanceof ParquetryError)) throw error
  console.log(`${error.status} ${error.code}: ${error.message}`)
} finally {
  await client.repositories.delete(repository.id)
}
