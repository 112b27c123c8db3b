import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { parseS3Address } from '../../engine/store/objects/address.ts'
import { S3Store } from '../../engine/store/objects/s3.ts'
import { openLake } from '../attach/lake.ts'
import { IS_CLUSTER } from '../cluster/elsewhere.ts'
import { S3_SERVERS, S3Server } from '../cluster/s3-server.ts'
import { dataset, platform } from '../server/platform.ts'

/** On PyPI. Pinned, so that a failure can be had again. */
const PACKAGES = ['pyiceberg==0.12.0', 'pyarrow==26.0.1']

const folder = mkdtempSync(join(tmpdir(), 'parquetry-pyiceberg-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Gives the Python that has the packages; PARQUETRY_PYICEBERG names one that is there already. */
function python(): string | undefined {
  const given = process.env['PARQUETRY_PYICEBERG']
  if (given) return given
  const made = spawnSync('python3', ['-m', 'venv', folder])
  const options = ['install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:']
  const done = made.status === 0 && spawnSync(join(folder, 'bin/pip'), [...options, ...PACKAGES]).status === 0
  if (!done) console.warn(`pyiceberg is NOT TRIED: there is no Python, or no ${PACKAGES.join(', ')}.`)
  return done ? join(folder, 'bin/python') : undefined
}

/** A column of every type, and rows that are not in the order of anything. */
const COLUMNS = [
  { name: 'Größe n', type: 'integer', nullable: false },
  { name: 'flag', type: 'boolean' },
  { name: 'double', type: 'double' },
  { name: 'price', type: 'decimal(20,3)' },
  { name: 'text', type: 'string' },
  { name: 'day', type: 'date' },
  { name: 'at', type: 'time' },
  { name: 'moment', type: 'timestamp' },
  { name: 'instant', type: 'timestamptz' },
  { name: 'id', type: 'uuid' },
  { name: 'json', type: 'json' },
  { name: 'bytes', type: 'binary' },
]
const HEADER = `${COLUMNS.map(({ name }) => name).join(',')}\n`
const ROWS = [
  '3,true,1.5,12345678901234567.125,ä"x,2024-02-29,13:14:15.000001,2024-01-02T03:04:05.000006,2024-01-02T03:04:05Z,01234567-89ab-cdef-0123-456789abcdef,[1],AAEC/w==',
  '1,,,,,,,,,,,',
  '20,false,-0.25,-1.000,b,1582-10-04,00:00:00,1900-01-01T00:00:00,1969-12-31T23:59:59.999999Z,ffffffff-ffff-ffff-ffff-ffffffffffff,"{""a"":1}",aGVsbG8=',
  '30,false,1e300,0.001,c,9999-12-31,23:59:59.999999,9999-12-31T23:59:59.999999,0001-01-01T00:00:00Z,00000000-0000-0000-0000-000000000000,null,""',
]
/** The same as Python writes them. */
const AS_PYTHON = [
  [
    '3',
    'True',
    '1.5',
    '12345678901234567.125',
    'ä"x',
    '2024-02-29',
    '13:14:15.000001',
    '2024-01-02 03:04:05.000006',
    '2024-01-02 03:04:05+00:00',
    '01234567-89ab-cdef-0123-456789abcdef',
    '[1]',
    "b'\\x00\\x01\\x02\\xff'",
  ],
  ['1', ...Array(11).fill(null)],
  [
    '20',
    'False',
    '-0.25',
    '-1.000',
    'b',
    '1582-10-04',
    '00:00:00',
    '1900-01-01 00:00:00',
    '1969-12-31 23:59:59.999999+00:00',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '{"a":1}',
    "b'hello'",
  ],
  [
    '30',
    'False',
    '1e+300',
    '0.001',
    'c',
    '9999-12-31',
    '23:59:59.999999',
    '9999-12-31 23:59:59.999999',
    '0001-01-01 00:00:00+00:00',
    '00000000-0000-0000-0000-000000000000',
    'null',
    "b''",
  ],
]

const program = python()
test.runIf(program)('pyiceberg reads what its key may read, and skips files by their bounds', async () => {
  await using at = await platform({ config: { iceberg: { localFiles: true } } })
  const address = await at.listen()
  const owner = await at.account('owner')
  const reader = await at.account('reader')
  await dataset(at, owner, { name: 'secret', private: true })
  const { id, repository } = await dataset(at, owner, { name: 'tables', csv: 'n\n1\n' })
  const call = async (method: string, path: string, json: unknown) => {
    const answer = await at.call(owner, method, path, { json })
    expect(answer.statusCode, answer.body).toBeLessThan(300)
    return answer.json()
  }
  const upload = async (table: number, method: 'PUT' | 'POST', body: string) => {
    const headers = { 'content-type': 'text/csv' }
    const answer = await at.call(owner, method, `/datasets/${table}/data`, { body, headers })
    expect(answer.statusCode, answer.body).toBe(200)
  }
  const types = await call('POST', '/datasets', {
    name: 'Every Type',
    repositoryId: repository,
    columns: COLUMNS,
  })
  await upload(types.id, 'PUT', `${HEADER}${ROWS.slice(0, 2).join('\n')}\n`)
  for (const row of ROWS.slice(2)) await upload(types.id, 'POST', `${HEADER}${row}\n`)

  const child = spawn(
    program!,
    [join(import.meta.dirname, 'reader.py'), `${address}/iceberg`, reader, 'tables', 'Every Type', 'tables'],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  )
  let complaints = ''
  child.stderr.on('data', (text) => (complaints += text))
  const ended = once(child, 'close')
  const found: Record<string, unknown> = {}
  for await (const line of createInterface(child.stdout)) {
    const [what, value] = JSON.parse(line)
    found[what] = value
    if (what !== 'before') continue
    await upload(id, 'PUT', 'n\n2\n3\n')
    child.stdin.end('written\n')
  }
  await ended

  expect(found, complaints).toEqual({
    namespaces: [['tables']],
    tables: [
      ['tables', 'Every Type'],
      ['tables', 'tables'],
    ],
    exists: [true, false],
    columns: COLUMNS.map(({ name, type, nullable }) => [
      name,
      { integer: 'long', json: 'string', 'decimal(20,3)': 'decimal(20, 3)' }[type] ?? type,
      nullable === false,
    ]),
    rows: AS_PYTHON,
    files: [1, 3],
    filtered: { 'Größe n': [30] },
    'no files': 0,
    plain: [...COLUMNS.map((_, index) => `c${index}`), 'r', 'f'],
    // Whatever order the files are read in, the sum numbers the rows.
    numbered: ROWS.map((_, index) => [index, AS_PYTHON[index]![0]]),
    before: { n: [1] },
    held: { n: [1] },
    pinned: { n: [1] },
    after: { n: [2, 3] },
    private: 'NoSuchNamespaceException',
    dropped: 'Server does not support endpoint',
    written: 'Server does not support endpoint',
    'wrong key': 'NotAuthorizedException',
  })
})

const NAMES_AND_FILES = `
import json, sys
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.expressions import GreaterThanOrEqual
table = RestCatalog("people", uri=sys.argv[1], token=sys.argv[2]).load_table(("home", "lake"))
few = table.scan(row_filter=GreaterThanOrEqual("Größe n", 1998))
print(json.dumps([len(list(few.plan_files())), table.scan().count(), few.to_arrow().to_pylist()], default=str))
`

const PLACES = S3_SERVERS.length > 0 ? (['a folder', 'a bucket'] as const) : (['a folder'] as const)
test.runIf(program && !IS_CLUSTER).each(PLACES)(
  'pyiceberg finds the columns of attached files in %s by their names',
  async (place) => {
    await using lake = await openLake()
    await using server = place === 'a bucket' ? await S3Server.start() : undefined
    const address = server ? 's3://tests/lake/' : join(lake.folder, 'all')
    const attachable = server ? address : lake.folder
    const config = { attachable, s3Endpoint: server?.endpoint, iceberg: { localFiles: true } } as object
    await using at = await platform({ config })
    const select = (from: number) =>
      `SELECT (i + ${from})::INTEGER AS "Größe n", (i / 4)::FLOAT AS f, (i / 100)::DECIMAL(9, 2) AS p,
       DATE '2024-01-01' + i::INTEGER AS day, nullif(i % 2, 0)::SMALLINT AS s FROM range(1000) t(i)`
    for (const from of [0, 1_000]) {
      const file = await lake.write(`all/${from}.parquet`, select(from))
      if (!server) continue
      const bucket = new S3Store(parseS3Address(address, { endpoint: server.endpoint }))
      await bucket.put(`${from}.parquet`, { file })
      bucket.close()
    }
    const { id: repositoryId } = (
      await at.call(at.root, 'POST', '/repositories', { json: { name: 'home' } })
    ).json()
    const { id } = (
      await at.call(at.root, 'POST', '/datasets', { json: { name: 'lake', repositoryId } })
    ).json()
    await (await at.engine.dataset(id)).attach(address)
    const catalog = `${await at.listen()}/iceberg`
    const child = spawn(program!, ['-c', NAMES_AND_FILES, catalog, at.root], { stdio: 'pipe' })
    const [out, complaints] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect(complaints).toBe('')
    expect(JSON.parse(out)).toEqual([
      1,
      2_000,
      [
        { 'Größe n': 1998, f: 249.5, p: '9.98', day: '2026-09-25', s: null },
        { 'Größe n': 1999, f: 249.75, p: '9.99', day: '2026-09-26', s: 1 },
      ],
    ])
  },
)
