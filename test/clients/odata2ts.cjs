// Reads a feed with the client that odata2ts made of its metadata, in the folder where it made it.
// Arguments: folder, service root, key, and the filters for each type of the entity set "kinds".
const { createRequire } = require('node:module')
const { join } = require('node:path')

const [folder, root, key, filters] = process.argv.slice(2)
const here = createRequire(join(folder, 'package.json'))
const { FetchClient } = here('@odata2ts/http-client-fetch')
const { QFilterExpression } = here('@odata2ts/odata-query-objects')
const { ParquetryService } = here('./out/ParquetryService.js')

/** Numbers and booleans as such; all else as its text. */
function typed(literal) {
  try {
    return JSON.parse(literal)
  } catch {
    return literal
  }
}

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
  console.log(
    'sets',
    Object.getOwnPropertyNames(Object.getPrototypeOf(service))
      .filter((name) => name !== 'constructor')
      .sort()
      .join(' '),
  )

  // Pages are followed as the client is told to.
  const headers = { Authorization, Prefer: 'odata.maxpagesize=30000' }
  let rows = 0
  let sum = 0
  for (let next = `${root}numbers`; next; ) {
    const page = await (await fetch(next, { headers })).json()
    rows += page.value.length
    sum += page.value.reduce((all, row) => all + row.n, 0)
    next = page['@odata.nextLink']
  }
  console.log('rows', rows, 'sum', sum)
  const chosen = await service
    .numbers()
    .query((builder, of) => builder.select('n').orderBy(of.n.desc()).top(1))
  console.log('selected', JSON.stringify(chosen.data.value))

  // No entity has relations, so the client is made to expand a property.
  await service
    .numbers()
    .query((builder) => builder.expand('word'))
    .then(
      () => console.log('expanded'),
      (error) => console.log('expand', error.status, error.message),
    )

  for (const line of filters.split('\n')) {
    const [column, text] = line.split('\t')
    const literal = text.slice(`${column} eq `.length)
    // The client puts quotes around texts, but doubles none in them.
    const value = /^'/.test(literal) ? literal.slice(1, -1) : typed(literal)
    const find = async (condition) =>
      (await service.kinds().query((builder, of) => builder.filter(condition(of)))).data.value
    // For what its types can't compare, the client takes an expression as text.
    const [found] = await find((of) =>
      text.startsWith(`${column} eq `) ? of[column].eq(value) : new QFilterExpression(text),
    )
    const [empty] = await find(() => new QFilterExpression(`${column} eq null`))
    console.log(`${column} in row ${found.Row} is ${found[column]}, null in row ${empty.Row}`)
  }
}

main()
