import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { measure } from '../../server/commands/throughput/measure.ts'
import { compare, type Report, tableOf } from '../../server/commands/throughput/report.ts'
import { serveProcess } from '../server/process.ts'
import { parquetryProcess } from './parquetry.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-bench-'))
const file = (name: string) => join(folder, name)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What `--json` writes for a table of which one format was measured. */
function report(least: number, median: number, most: number): Report {
  const spread = { least, median, most }
  const figure = {
    format: 'csv',
    clients: 1,
    downloads: 3,
    bytes: 10,
    rowsPerSecond: spread,
    firstByte: spread,
  }
  return {
    measuredAt: '2026-01-01T00:00:00Z',
    parquetry: '0',
    node: '24',
    machine: 'a machine',
    tables: [{ name: 'n.csv', rows: 2, columns: 1, figures: [figure] }],
  }
}

test('a file of one’s own is measured in each format, beside COPY, and the figures are written', async () => {
  writeFileSync(file('n.csv'), 'n\nx\n1\n')
  const { code, stdout } = await parquetryProcess([
    'bench',
    file('n.csv'),
    ...['--formats', 'csv,xlsx', '--clients', '1,2', '--seconds', '0', '--filter', "n eq '1'"],
    ...['--json', file('figures.json'), '--html', file('figures.html')],
  ])
  expect(code).toBe(0)
  expect(stdout).toMatch(/n\.csv: 1 row, 1 column\nformat +clients +rows\/s/)
  const { tables } = JSON.parse(readFileSync(file('figures.json'), 'utf8')) as Report
  expect(tables).toMatchObject([{ name: 'n.csv', rows: 1, columns: 1 }])
  expect(
    tables[0]!.figures.map(({ format, clients, beside }) => [format, clients, beside?.copy !== undefined]),
  ).toEqual([
    ['csv', 1, true],
    ['csv', 2, true],
    ['xlsx', 1, false],
    ['xlsx', 2, false],
  ])
  for (const { bytes, cpu, rowsPerSecond } of tables[0]!.figures) {
    expect(bytes).toBeGreaterThan(0)
    expect(cpu).toBeGreaterThanOrEqual(0)
    expect(rowsPerSecond.least).toBeLessThanOrEqual(rowsPerSecond.median)
  }
  expect(readFileSync(file('figures.html'), 'utf8')).toContain('<h2>n.csv</h2>')
})

test('datasets of a server are named as by other commands', async () => {
  const key = 'the key of the benchmark'
  await using server = await serveProcess({
    data: file('data'),
    environment: { PARQUETRY_ROOT_KEY: key },
    samples: true,
  })
  const measured = (name: string) =>
    parquetryProcess([
      'bench',
      name,
      '--server',
      server.url,
      '--key',
      key,
      '--formats',
      'csv',
      '--seconds',
      '0',
    ])
  expect(await measured('samples/penguins')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('penguins: 344 rows'),
  })
  const { code, stderr } = await measured('samples/pinguins')
  expect([code, stderr]).toEqual([2, expect.stringContaining('pinguins')])
})

test('memory that the server did not always tell is not measured, and the table says so', async () => {
  let asked = 0
  const server = createServer((request, answer) => {
    if (!request.url!.startsWith('/metrics')) return answer.end('n\n1\n')
    asked += 1
    answer.statusCode = asked === 2 ? 503 : 200
    answer.end(
      `parquetry_process_cpu_seconds_total ${asked}\nparquetry_process_resident_memory_bytes 1048576\n`,
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const how = { format: 'csv', clients: 1, seconds: 0, rows: 1 }
  const figure = () => measure({ url, key: 'k', dataset: 1, filter: undefined }, how)
  const figures = [await figure(), await figure()]
  server.close()
  expect(figures).toMatchObject([{ cpu: 2 / 3 }, { peakMemory: 1_048_576 }])
  expect(figures[0]).not.toHaveProperty('peakMemory')
  expect(tableOf(figures, 1).split('\n')).toEqual([
    expect.stringContaining('memory'),
    expect.stringContaining('0.67 s  not measured'),
    expect.stringMatching(/ 1 MiB$/),
  ])
})

const python = process.env['PARQUETRY_PYTHON']

test.skipIf(python === undefined)('pandas and polars write the same rows beside it', async () => {
  writeFileSync(file('days.csv'), 'day,n\n2024-01-01,1\n2024-01-02,2\n')
  const formats = ['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet', 'arrow']
  const { code, stdout } = await parquetryProcess([
    ...['bench', file('days.csv'), '--formats', formats.join(), '--seconds', '0'],
    ...['--beside', 'pandas,polars', '--python', python!, '--json', file('days.json')],
  ])
  expect(code).toBe(0)
  expect(stdout).toMatch(/pandas rows\/s +ratio +polars rows\/s +ratio/)
  const { tables } = JSON.parse(readFileSync(file('days.json'), 'utf8')) as Report
  expect(
    tables[0]!.figures.map(({ format, beside = {} }) => [format, ...Object.keys(beside).sort()]),
  ).toEqual(formats.map((format) => [format, 'pandas', 'polars']))
})

test('a change is noise where the measurements overlap', () => {
  expect(compare(report(90, 100, 110), report(80, 85, 95))).toMatchObject([{ noise: true }])
  const [change] = compare(report(90, 100, 110), report(40, 50, 60))
  expect(change).toEqual({ name: 'n.csv: csv, clients: 1', ratio: 2, noise: false })
})

test('with --fail-above a slower export ends with 1', async () => {
  writeFileSync(file('before.json'), JSON.stringify(report(1e12, 1e12, 1e12)))
  const args = [
    'bench',
    file('n.csv'),
    '--formats',
    'csv',
    '--seconds',
    '0',
    '--compare',
    file('before.json'),
  ]
  expect(await parquetryProcess(args)).toMatchObject({ code: 0, stderr: '' })
  const failed = await parquetryProcess([...args, '--fail-above', '1.1'])
  expect(failed).toMatchObject({
    code: 1,
    stderr: 'parquetry: slower by more than 1.1: n.csv: csv, clients: 1.\n',
  })
})

test.each([
  [['--beside', 'excel'], /--beside: "excel" is not one of copy, pandas/],
  [
    ['--beside', 'pandas', '--python', '/bin/false'],
    /--python: \/bin\/false lacks one of pandas, pyarrow, xlsxwriter/,
  ],
  [['1', '--beside', 'polars', '--server', 'http://127.0.0.1:1', '--key', 'k'], /not of a server/],
  [['--formats', 'excel'], /--formats: "excel" is not one of csv/],
  [['--fail-above', 'x'], /--fail-above: "x" is not a ratio/],
  [['--compare', 'nowhere.json'], /--compare: nowhere.json can't be read/],
  [['--server', 'http://127.0.0.1:1', '--key', 'k'], /Name the datasets of the server, as repository/],
])('wrong usage is told: %j', async (args, message) => {
  const { code, stderr } = await parquetryProcess(['bench', ...args])
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)])
})
