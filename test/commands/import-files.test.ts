import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client } from '../../server/client/index.ts'
import { type Served, serveSamples } from '../client/served.ts'
import { type Called, parquetry } from './parquetry.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-files-'))
const file = (name: string) => join(folder, name)
let served: Served

beforeAll(async () => {
  for (const name of ['in/deep', 'in/.git', 'mixed', 'same']) mkdirSync(file(name), { recursive: true })
  writeFileSync(file('in/feb.csv'), 'n,text\n3,c\n')
  writeFileSync(file('in/jan.csv.gz'), gzipSync('n,text\n1,a\n2,b\n'))
  writeFileSync(file('in/deep/mar.ndjson'), '{"n":4,"text":"d"}\n')
  writeFileSync(file('in/README'), 'not a table')
  writeFileSync(file('in/_hidden.csv'), 'x\n1\n')
  writeFileSync(file('in/.git/config.csv'), 'x\n1\n')
  writeFileSync(file('mixed/1.csv'), 'n,text\n"1,a\n')
  writeFileSync(file('mixed/2.csv'), 'n,text\n2,b\n')
  writeFileSync(file('mixed/3.csv'), 'n,more\n3,c\n')
  writeFileSync(file('mixed/4.csv'), 'n,text\n4,d\n')
  writeFileSync(file('same/a.csv'), 'n\n1\n')
  writeFileSync(file('same/a.tsv'), 'n\n2\n')
  served = await serveSamples()
  await new Client({ url: served.url, key: served.key }).repositories.create({ name: 'home' })
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

describe.each([
  ['in a data directory', () => ['--data', file('data')]],
  ['on a server', () => ['--server', served.url, '--key', served.key]],
])('%s', (where, place) => {
  const run = (...args: string[]): Promise<Called> => parquetry([...place(), ...args])
  const rowsOf = async (name: string) => (await run('export', `home/${name}`)).stdout
  beforeAll(async () => {
    if (where === 'in a data directory') expect((await run('repository', 'create', 'home')).code).toBe(0)
  })

  test('each file of a folder becomes a dataset that is named as it', async () => {
    const { code, stdout, stderr } = await run('import', file('in'), '--repository', 'home')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'left out 1 file whose names show no table\n',
    })
    expect(stdout.replaceAll(/dataset \d+/g, 'dataset').split('\n')).toEqual([
      `${file('in/deep/mar.ndjson')}: dataset: 1 row, 2 columns, version 1`,
      `${file('in/feb.csv')}: dataset: 1 row, 2 columns, version 1`,
      `${file('in/jan.csv.gz')}: dataset: 2 rows, 2 columns, version 1`,
      '3 files stored',
      '',
    ])
    expect(await rowsOf('jan')).toBe('n,text\n1,a\n2,b\n')
    expect(await rowsOf('mar')).toBe('n,text\n4,d\n')
  })

  test('files that differ only in their endings keep them in the names', async () => {
    expect((await run('import', file('same/*'), '--repository', 'home')).code).toBe(0)
    expect(await rowsOf('a.csv')).toBe('n\n1\n')
    expect(await rowsOf('a.tsv')).toBe('n\n2\n')
  })

  test('a union has the rows of all files, and replaces what was there', async () => {
    const args = ['--repository', 'home', '--dataset', 'year', '--union']
    for (const _ of [1, 2]) {
      expect(await run('import', file('in/*.csv*'), ...args)).toMatchObject({ code: 0 })
      expect(await rowsOf('year')).toBe('n,text\n3,c\n1,a\n2,b\n')
    }
    expect((await run('import', file('in/deep'), ...args, '--append')).code).toBe(0)
    expect(await rowsOf('year')).toBe('n,text\n3,c\n1,a\n2,b\n4,d\n')
  })

  test('a file that is refused is named with the reason, and does not keep the others back', async () => {
    const args = ['import', file('mixed'), '--repository', 'home', '--dataset', 'mixed', '--union']
    const { code, stdout, stderr } = await run(...args)
    expect(code).toBe(1)
    expect(stdout).toMatch(/2 files stored, 2 files refused\n$/)
    expect(stderr).toContain(`${file('mixed/1.csv')}: `)
    expect(stderr).toContain(`${file('mixed/3.csv')}: The upload `)
    expect(stderr).not.toContain('Nothing was stored')
    expect(await rowsOf('mixed')).toBe('n,text\n2,b\n4,d\n')
    const wider = await run(...args, '--columns', 'add', '--missing', 'null')
    expect(wider.stdout).toMatch(/3 files stored, 1 file refused\n$/)
    expect(await rowsOf('mixed')).toBe('n,text,more\n2,b,\n3,,c\n4,d,\n')
  })

  test('the rows of a union can have the name of their file', async () => {
    const args = ['import', file('in'), '--repository', 'home', '--dataset', 'named', '--union']
    expect((await run(...args, '--fileColumn', 'file')).code).toBe(0)
    const rows = 'n,text,file\n4,d,deep/mar.ndjson\n3,c,feb.csv\n1,a,jan.csv.gz\n2,b,jan.csv.gz\n'
    expect(await rowsOf('named')).toBe(rows)
    const one = ['import', file('in/feb.csv'), '--repository', 'home', '--dataset', 'named', '--append']
    expect((await run(...one, '--fileColumn', 'file')).code).toBe(0)
    expect(await rowsOf('named')).toBe(`${rows}3,c,feb.csv\n`)
    const taken = await run(...args, '--fileColumn', 'text')
    expect(taken).toMatchObject({ code: 1, stdout: '0 files stored, 3 files refused\n' })
    expect(taken.stderr).toContain('The file itself has a column "text": name another one with --fileColumn')
  })

  test('of files that are all refused, no dataset is left', async () => {
    const args = ['--repository', 'home', '--dataset', 'none', '--union']
    expect(await run('import', file('mixed/1*'), ...args)).toMatchObject({
      code: 1,
      stdout: '0 files stored, 1 file refused\n',
    })
    expect((await run('repository', 'list')).stdout).not.toContain('none')
  })
})

test('a repository that is not there is said once', async () => {
  const args = ['--data', file('data'), 'import', file('same'), '--repository', 'nowhere']
  const { code, stderr } = await parquetry(args)
  expect({ code, lines: stderr.split('\n').length }).toEqual({ code: 2, lines: 2 })
})

test('what does not fit together is said before anything is read', async () => {
  const run = (...args: string[]) =>
    parquetry(['--data', file('data'), 'import', ...args, '--repository', 'home'])
  const cases = [
    [
      [file('in'), '--dataset', 'x'],
      'Each file becomes a dataset that is named as it: leave out --dataset, or add --union.',
    ],
    [[file('in'), '--union'], '--dataset names the dataset of --union.'],
    [[file('in/feb.csv')], '--dataset names the dataset of the file.'],
    [
      [file('in/feb.csv'), '--dataset', 'x', '--union'],
      '--union is for a folder or a pattern; to add one file, use --append.',
    ],
    [[file('none/*.csv')], `There is no file ${file('none/*.csv')}.`],
  ] as const
  for (const [args, message] of cases)
    expect(await run(...args)).toEqual({ code: 2, stdout: '', stderr: `parquetry: ${message}\n` })
})
