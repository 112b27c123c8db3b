// Reads a feed as the grids of Syncfusion and DevExtreme do, in a browser's window without a screen.
// Arguments: the folder with the packages, the service root, a key.
const { createRequire } = require('node:module')
const { join } = require('node:path')

const [folder, root, key] = process.argv.slice(2)
const here = createRequire(join(folder, 'package.json'))
const { JSDOM } = here('jsdom')
const { window } = new JSDOM('', { url: root })
const names = [
  'document',
  'XMLHttpRequest',
  'FormData',
  'Node',
  'Element',
  'HTMLElement',
  'DOMParser',
  'getComputedStyle',
]
Object.assign(globalThis, { window }, Object.fromEntries(names.map((name) => [name, window[name]])))
const Authorization = `Basic ${Buffer.from(`${key}:any`).toString('base64')}`

async function syncfusion() {
  const { DataManager, ODataV4Adaptor, Query, Predicate } = here('@syncfusion/ej2-data')
  const ask = (query) =>
    new DataManager({
      url: `${root}numbers/`,
      adaptor: new ODataV4Adaptor(),
      headers: [{ Authorization }],
    }).executeQuery(query)
  const found = await ask(
    new Query()
      .where(new Predicate('n', 'greaterthan', 5).and('word', 'contains', 'w'))
      .sortByDesc('n')
      .page(2, 3)
      .requiresCount(),
  )
  console.log('syncfusion', found.count, found.result.map(({ n }) => n).join(' '))
  const searched = await ask(new Query().search('W1', ['word'], 'contains', true).take(2))
  console.log('syncfusion search', searched.result.map(({ word }) => word).join(' '))
}

async function devextreme() {
  const ODataStore = here('devextreme/cjs/data/odata/store').default
  const store = new ODataStore({
    version: 4,
    url: `${root}numbers`,
    key: 'Row',
    keyType: 'Int64',
    beforeSend: (options) => Object.assign(options.headers, { Authorization }),
  })
  const query = {
    filter: [['n', '>', 5], 'and', ['word', 'contains', 'w']],
    sort: [{ selector: 'n', desc: true }],
    skip: 3,
    take: 3,
    requireTotalCount: true,
  }
  const rows = await store.load(query)
  console.log('devextreme', await store.totalCount(query), rows.map(({ n }) => n).join(' '))
  console.log('devextreme entity', (await store.byKey(17)).n)
}

syncfusion()
  .then(devextreme)
  .then(
    () => process.exit(0),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
