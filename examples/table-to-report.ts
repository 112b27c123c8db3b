// A csv file becomes a dataset, a question is asked of it, and the answer becomes an Excel file.
//
//   node table-to-report.ts
import { openEngine } from 'parquetry'

const ORDERS = `placed,customer,country,amount
2026-01-05,Ada,AT,120.50
2026-01-09,Bela,HU,80.00
2026-02-02,Ada,AT,45.25
2026-02-11,Chiara,IT,310.00
`

const engine = await openEngine({ directory: 'example-data' })
try {
  const repository =
    (await engine.repositories()).find(({ name }) => name === 'shop') ??
    (await engine.createRepository({ name: 'shop' }))
  const found = (await engine.datasets({ repositoryId: repository.id })).find(({ name }) => name === 'orders')
  const { id } = found ?? (await engine.createDataset({ repositoryId: repository.id, name: 'orders' }))
  const orders = await engine.dataset(id)

  // Types come from the whole file, unless you declare columns. All rows go in, or none.
  const upload = await orders.replace({ format: 'csv', body: chunks(ORDERS) })
  console.log(`orders: ${upload.rowCount} rows`)

  const large = await orders.query({ filter: "amount gt 50 and country ne 'HU'", orderBy: 'amount desc' })
  for await (const row of large.rows()) console.log(`${row['customer']}: ${row['amount']}`)

  await large.toFile('large-orders.xlsx', 'xlsx')
  console.log('large-orders.xlsx is written')
} finally {
  await engine.close()
}

async function* chunks(text: string) {
  yield new TextEncoder().encode(text)
}
