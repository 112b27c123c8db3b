// Reads a feed with the client that odata2ts made of its metadata, in the folder where it made it.
// Arguments: folder, service root, key.
const { createRequire } = require('node:module')
const { join } = require('node:path')

const [folder, root, key] = process.argv.slice(2)
const here = createRequire(join(folder, 'package.json'))
const { FetchClient } = here('@odata2ts/http-client-fetch')
const { ParquetryService } = here('./out/ParquetryService.js')

async function main() {
  const Authorization = `Basic ${Buffer.from(`${key}:any`).toString('base64')}`
  const service = new ParquetryService(
    new FetchClient({ headers: { Authorization } }),
    root.replace(/\/$/, ''),
  )
  const found = await service
    .numbers()
    .query((builder, of) =>
      builder.filter(of.n.gt(5), of.word.contains('w')).orderBy(of.n.desc()).top(2).count(),
    )
  console.log('filtered', found.data['@odata.count'], found.data.value.map((row) => row.n).join(' '))
  const one = await service.numbers(17).query()
  console.log('entity', one.data.Row, one.data.n)
}

main()
