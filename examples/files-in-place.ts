// Parquet files that something else has written, asked where they lie. No data directory, nothing is copied.
//
//   node files-in-place.ts trips/*.parquet
import { openFiles } from 'parquetry'

const paths = process.argv.slice(2)
const files = await openFiles(paths)
try {
  console.log(
    `${files.rowCount} rows: ${files.columns.map(({ name, type }) => `${name} ${type}`).join(', ')}`,
  )
  const first = files.columns[0]!.name
  const question = files.query({
    filter: `${first} ne null`,
    orderBy: [{ column: first, descending: true }],
    top: 3,
  })
  for await (const row of question.rows()) console.log(JSON.stringify(row))
} finally {
  await files.close()
}
