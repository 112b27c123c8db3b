import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import ExcelJS from 'exceljs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client } from '../../server/client/index.ts'
import { type Served, serveSamples } from '../client/served.ts'
import { type Called, parquetry } from './parquetry.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-commands-'))
const file = (name: string) => join(folder, name)
const NUMBERS = 'n,text\n1,"a\nb"\n2,\n3,c\n'
let served: Served
let home: number

beforeAll(async () => {
  writeFileSync(file('numbers.csv'), NUMBERS)
  writeFileSync(file('rows.txt'), '{"n":1}\n')
  served = await serveSamples()
  const client = new Client({ url: served.url, key: served.key })
  home = (await client.repositories.create({ name: 'home' })).id
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** Both places where tables can be: a data directory, and a server elsewhere. */
const PLACES: readonly [string, () => { readonly args: readonly string[]; readonly home: string }][] = [
  ['in a data directory', () => ({ args: ['--data', file('data')], home: 'home' })],
  ['on a server', () => ({ args: ['--server', served.url, '--key', served.key], home: String(home) })],
]

describe.each(PLACES)('%s', (where, place) => {
  const run = (...args: string[]): Promise<Called> => parquetry([...place().args, ...args])
  beforeAll(async () => {
    if (where === 'in a data directory') expect((await run('repository', 'create', 'home')).code).toBe(0)
  })

  test('a file goes in, is listed, and comes out under its name', async () => {
    const target = ['--repository', place().home, '--dataset', 'numbers']
    expect(await run('import', file('numbers.csv'), ...target)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^dataset \d+: 3 rows, 2 columns, version 1\n$/),
    })
    expect((await run('repository', 'list')).stdout).toMatch(/\thome\n(.*\n)*\t\d+\tnumbers\t3 rows\n/)
    expect(await run('export', 'home/numbers')).toEqual({ code: 0, stdout: NUMBERS, stderr: '' })
    expect((await run('export', 'home/nunbers')).stderr).toContain('Did you mean home/numbers? Name it')
    for (const far of ['home/n', 'home/9999']) expect((await run('export', far)).stderr).not.toContain('mean')
  })

  test('members are added, listed and removed', async () => {
    const { home } = place()
    expect((await run('account', 'create', 'colleague')).code).toBe(0)
    expect(await run('member', 'add', home, 'colleague', '--write')).toMatchObject({
      code: 0,
      stdout: 'colleague may read and write home\n',
    })
    expect((await run('member', 'list', home)).stdout).toBe('colleague\tWrite\n')
    expect(await run('member', 'add', home, 'colleage')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'parquetry: There is no account "colleage". Did you mean colleague?\n',
    })
    expect((await run('member', 'remove', home, 'colleague')).code).toBe(0)
  })

  test('SQL joins tables by their names', async () => {
    writeFileSync(
      file('question.sql'),
      'SELECT count(*) AS n FROM home.numbers AS a JOIN numbers AS b USING (n)',
    )
    const answer = { code: 0, stdout: '[{"n":3}]\n', stderr: '' }
    expect(await run('sql', '-f', file('question.sql'), '--format', 'json')).toEqual(answer)
    expect(await run('sql', 'SELECT 1 AS a; SELECT 2')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('more than one statement'),
    })
    expect((await run('sql')).code).toBe(2)
  })

  test('SQL is saved as a dataset', async () => {
    const statement = 'SELECT n FROM home.numbers WHERE n > 1 ORDER BY n'
    const saved = await run('sql', statement, '--save', 'some', '--repository', 'home')
    expect(saved).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Saved as home\/some \(dataset \d+\)\.\n$/),
    })
    const rows = (await run('sql', statement)).stdout
    expect((await run('export', 'home/some')).stdout).toBe(rows)
    expect(await run('sql', 'SELECT 1', '--save', 'one')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--repository'),
    })
    expect(await run('sql', 'SELECT a FROM nowhere', '--save', 'a', '--repository', 'home')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nowhere'),
    })
  })

  test('versions are listed, exported and restored', async () => {
    const put = (text: string) =>
      parquetry(
        [...place().args, 'import', '-', '--format', 'csv', '--repository', 'home', '--dataset', 'past'],
        text,
      )
    expect((await put('n\n1\n')).stderr).toBe('')
    await put('n\n2\n')
    const lines = (await run('versions', 'home/past')).stdout.split('\n')
    expect(lines[0]).toMatch(/^2\t\S+\treplace\t\w*\t1 row\t\+1 -1\t$/)
    expect(await run('export', 'home/past', '--version', '1')).toMatchObject({ code: 0, stdout: 'n\n1\n' })
    const restored = await run('restore', 'home/past', '1', '--note', 'undo')
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    expect(restored.stdout).toContain('version 3 has the rows of version 1')
    expect((await run('export', 'home/past')).stdout).toBe('n\n1\n')
    expect((await run('versions', 'home/past')).stdout).toMatch(/^3\t.*\tundo\n/)
    expect((await run('export', 'home/past', '--version', '9')).stderr).toContain('has no version 9')
    expect((await run('restore', 'home/past')).stderr).toContain('`parquetry versions home/past` lists')
    const keyless = await run('undo', 'home/past', '3')
    expect(keyless.stderr).toContain("version 3 can't be undone: the dataset has no key")
    expect(keyless.stderr).toContain('`parquetry restore home/past 2` takes back this version')
    expect(await run('restore', 'home/past', '2')).toMatchObject({ code: 0 })
    const wrong = ['import', '-', '--format', 'csv', '--repository', 'home', '--dataset', 'past']
    expect(await parquetry([...place().args, ...wrong], 'n\nx\n')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Row 1, column "n".*\nNothing was stored\.\n$/),
    })
  })

  test('cells of the rows that match a filter are changed, by values or expressions', async () => {
    const table = ['--repository', 'home', '--dataset', 'cells']
    await parquetry([...place().args, 'import', '-', '--format', 'csv', ...table], 'n,t\n1,a\n2,b\n3,c\n')
    const edit = (...args: string[]) => run('edit', 'home/cells', ...args)
    expect((await edit('n=20', 't=x=y', '--filter', 'n eq 2', '--note', 'late')).stdout).toMatch(
      /^dataset \d+: 1 row changed; version 2\n$/,
    )
    await edit('n==n mul 10', 't=', '--filter', 'n ne 20')
    expect((await run('export', 'home/cells')).stdout).toBe('n,t\n10,\n20,x=y\n30,\n')
    expect((await run('versions', 'home/cells')).stdout).toContain('\tlate\n')
    expect(await edit('n=x', '--filter', 'true')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Column "n": "x" is not an integer'),
    })
    expect(await edit('n=1')).toMatchObject({ code: 2, stderr: expect.stringContaining("'--filter <text>'") })
    expect((await edit('n', '--filter', 'true')).stderr).toContain('write name=value')
  })

  test('standard input, packed or not, appended', async () => {
    const packed = gzipSync('n,text\n4,d\n')
    const args = [
      'import',
      '-',
      '--format',
      'csv.gz',
      '--repository',
      'home',
      '--dataset',
      'numbers',
      '--append',
    ]
    expect((await parquetry([...place().args, ...args], packed)).stdout).toContain('4 rows')
    const refused = await run('import', '-', '--repository', 'home', '--dataset', 'numbers')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--format csv') })
  })

  test('a file of another dialect goes in as its options say', async () => {
    writeFileSync(file('office.csv'), Buffer.from('Tag;Menge\n31.12.2024;1,5\nM\xe4rz;-\n', 'latin1'))
    const args = ['import', file('office.csv'), '--repository', 'home', '--dataset', 'office']
    const found = await run(...args)
    expect(found.stderr).toBe(
      "read with --nulls - --textNulls keep --delimiter ';' --decimal , --encoding windows-1252\n" +
        '  --encoding because of "Tag;Menge"\n' +
        '  --delimiter because of "Tag;Menge"\n' +
        '  --decimal because of "1,5" in row 1\n' +
        '  --nulls because of "-" in row 2\n' +
        'Tag is text because of "31.12.2024" in row 1; --dates D.M.YYYY --columns replace may read it.\n',
    )
    writeFileSync(file('totals.csv'), 'day;n\n1.2.2024;1\n13.2.2024;2\ntotal;3\n')
    const totals = ['import', file('totals.csv'), '--repository', 'home', '--dataset', 'totals']
    expect((await run(...totals)).stderr).toBe(
      "read with --delimiter ';' --footer 1 --dates D.M.YYYY\n" +
        '  --delimiter because of "day;n"\n' +
        '  --footer because of "total" in row 3\n' +
        '  --dates because of "13.2.2024" in row 2\n',
    )
    const whole = [...totals.slice(0, -1), 'whole', '--footer', '0', '--dates', 'D.M.YYYY']
    expect((await run(...whole)).stderr).toBe(
      "read with --delimiter ';'\n" +
        '  --delimiter because of "day;n"\n' +
        'day is text because of "total" in row 3; the values above it are of type date. ' +
        'If the rows at the end hold totals or notes, leave them out with --footer.\n',
    )
    const dates = Array.from({ length: 30 }, (_, n) => (n === 2 ? '03.01.24' : `${(n % 28) + 1}.1.2024`))
    writeFileSync(file('dates.csv'), `day\n${dates.join('\n')}\n`)
    const mixed = ['import', file('dates.csv'), '--repository', 'home', '--dataset', 'mixed']
    expect((await run(...mixed, '--dates', 'D.M.YYYY')).stderr).toBe(
      'day is text because of "03.01.24" in row 3; the values above it are of type date.\n',
    )
    const refused = await run(...args, '--dialect', 'standard')
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("unless --delimiter ';' says otherwise."),
    })
    const manner = ['--delimiter', ';', '--decimal', ',', '--encoding', 'latin1', '--nulls', '-,NA']
    expect(await run(...args, ...manner)).toMatchObject({
      code: 0,
      // As the last upload was read, which chose words for missing values.
      stderr:
        'read with --textNulls keep\nreplaced 2 rows; parquetry restore home/office 1 brings them back\n',
    })
    expect((await run('export', 'home/office')).stdout).toBe('Tag,Menge\n31.12.2024,1.5\nMärz,\n')
    const other = ['import', file('numbers.csv'), '--repository', 'home', '--dataset', 'office']
    expect((await run(...other)).stderr).toContain('(--columns replace)')
    expect((await run(...other, '--columns', 'replace')).code).toBe(0)
    expect(await run(...args, '--encoding', 'utf-7')).toMatchObject({
      code: 2,
      stderr:
        'parquetry: --encoding: "utf-7" is not one of utf-8, windows-1252, latin1, utf-16, windows-1250, windows-1251, macintosh, shift_jis, gb18030, big5, euc-kr.\n',
    })
    expect((await run(...args, '--decimal', ';')).stderr).toBe(
      'parquetry: --decimal: ";" is not one of ".", ",".\n',
    )
    expect((await run('export', 'home/office', '--top', '1.5')).stderr).toBe(
      'parquetry: --top: "1.5" is not a whole number.\n',
    )
    expect((await run(...args, '--append', '--columns', 'replace')).code).toBe(2)
    writeFileSync(file('short.csv'), 'a,b\n1\n2,3\n4\n')
    expect(
      (await run('import', file('short.csv'), '--repository', 'home', '--dataset', 'short')).stderr,
    ).toBe(
      'parquetry: Row 1: it has 1 of the 2 fields of the header: "1". Remove the line if it is a note.\n' +
        '  Row 3: it has 1 of the 2 fields of the header: "4". Remove the line if it is a note.\n' +
        'Nothing was stored.\n',
    )
    expect(await run(...args, '--sheet', 'a')).toMatchObject({
      code: 1,
      stderr: 'parquetry: --sheet is for xlsx, xls, xlsb and ods; the format is csv.\n',
    })
  })

  test('rows are chosen, ordered and cut as asked', async () => {
    const asked = [
      '--filter',
      'n gt 1',
      '--select',
      'text,n',
      '--orderby',
      'n desc',
      '--skip',
      '1',
      '--top',
      '1',
    ]
    expect((await run('export', 'home/numbers', ...asked)).stdout).toBe('text,n\nc,3\n')
    const sums = ['--apply', 'aggregate(n with sum as total)']
    expect((await run('export', 'home/numbers', ...sums)).stdout).toBe('total\n10\n')
    expect((await run('export', 'home/numbers', '--last', '1', '--select', 'n')).stdout).toBe('n\n4\n')
    const doubled = ['--compute', 'n mul 2 as m', '--search', 'C', '--select', 'm']
    expect((await run('export', 'home/numbers', ...doubled)).stdout).toBe('m\n6\n')
    const wrong = await run('export', 'home/numbers', '--apply', 'aggregate(n with summ as s)')
    expect(wrong).toMatchObject({ code: 1, stdout: '' })
    expect(wrong.stderr).toMatch(/--apply: At position 18: 'summ' is not an aggregation method/)
    const office = ['--bom', '--delimiter', ';', '--decimal', ',', '--null', 'NA', '--formulas', 'escape']
    const written = await run('export', 'home/numbers', '--top', '1', '--select', 'n', ...office)
    expect(written).toMatchObject({ code: 0, stdout: '\ufeffn\n1\n' })
    expect(await run('export', 'home/numbers', '--format', 'json', '--null', 'NA')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--null is for csv and tsv; the format is json.'),
    })
    expect((await run('export', 'home/numbers', '-o', '-', '--format', 'ndjson', '--top', '1')).stdout).toBe(
      '{"n":1,"text":"a\\nb"}\n',
    )
  })

  test('the ending of a file chooses its format, and an unknown one is refused', async () => {
    const path = file('out.parquet')
    expect(await run('export', 'home/numbers', '-o', path)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/out\.parquet: [\d,]+ bytes of parquet\n$/),
    })
    expect(readFileSync(path).subarray(0, 4).toString()).toBe('PAR1')
    expect(await run('export', 'home/numbers', '-o', file('out.pdf'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not one of csv, tsv'),
    })
    expect(readdirSync(folder).filter((name) => name.includes('.part'))).toEqual([])
  })

  test('the sheet of a workbook has the name of the dataset', async () => {
    const path = file('out.xlsx')
    expect((await run('export', 'home/numbers', '-o', path)).code).toBe(0)
    const workbook = new ExcelJS.Workbook()
    await workbook.xlsx.readFile(path)
    expect(workbook.worksheets.map(({ name }) => name)).toEqual(['numbers'])
  })

  test('a wrong file is refused, and the dataset that was made for it goes', async () => {
    const args = ['import', file('rows.txt'), '--format', 'json', '--repository', 'home', '--dataset', 'bad']
    expect(await run(...args)).toMatchObject({ code: 1, stderr: expect.stringMatching(/^parquetry: /) })
    expect((await run('repository', 'list')).stdout).not.toContain('bad')
  })

  test('what is not there is said, with the way on', async () => {
    const nowhere = ['import', file('numbers.csv'), '--repository', 'nowhere', '--dataset', 'd']
    expect(await run(...nowhere)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('`parquetry repository create NAME` makes one'),
    })
    expect((await run('export', 'home/nothing')).stderr).toContain('There is no dataset "home/nothing"')
    expect((await run('export', '999')).stderr).toContain('There is no dataset 999')
    const none = { code: 2, stdout: '', stderr: `parquetry: There is no file ${file('none.csv')}.\n` }
    expect(await run('import', file('none.csv'), '--repository', 'home', '--dataset', 'd')).toEqual(none)
    expect(await run('sql', '-f', file('none.csv'))).toEqual(none)
    expect(await run('describe', 'home/numbers', file('none.csv'))).toEqual(none)
    const isFolder = `parquetry: ${folder} can't be read: it is a folder.\n`
    expect(await run('sql', '-f', folder)).toEqual({ code: 2, stdout: '', stderr: isFolder })
  })

  test('a description is taken whole or not at all', async () => {
    const about = async () => JSON.parse((await run('describe', 'home/numbers')).stdout)
    const before = await about()
    const change = async (fields: object) => {
      writeFileSync(file('about.json'), JSON.stringify(fields))
      return run('describe', 'home/numbers', file('about.json'))
    }
    const title = 'Numbers'
    expect(await change({ title, columns: [{ name: 'none', unit: 'kg' }] })).toMatchObject({
      code: 1,
      stderr: 'parquetry: The dataset has no column "none".\n',
    })
    for (const [columns, message] of [
      ['n', 'columns must be a list, not text.'],
      [null, 'columns must be a list, not null.'],
      [[5], 'columns[0] must be an object, not 5.'],
      [[{ unit: 'kg' }], 'columns[0].name is missing.'],
      [[{ name: 'n', type: 'double' }], 'the type of "n" is integer, not double; describe changes no types.'],
      [[{ name: 'n', kind: 'double' }], 'columns[0] has an unknown field "kind"'],
    ]) {
      expect(await change({ title, columns }), message as string).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(message as string),
      })
    }
    expect(await about()).toEqual(before)
    expect(before.columns[0]).toMatchObject({ name: 'n', type: 'integer' })
    expect((await change(before)).code).toBe(0)
    expect(await about()).toEqual(before)
    expect((await change({ title, columns: [{ name: 'n', unit: 'kg' }] })).code).toBe(0)
    expect(await about()).toMatchObject({ title, columns: [{ name: 'n', unit: 'kg' }, { name: 'text' }] })
  })
})
