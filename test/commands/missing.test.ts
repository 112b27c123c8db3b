import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parquetry } from './parquetry.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-missing-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string) => join(folder, name)
const run = (...args: string[]) => parquetry(['--data', file('data'), ...args])

test('columns that a file lacks are asked for, kept by an upsert, or null if that is meant', async () => {
  await run('repository', 'create', 'home')
  const into = ['--repository', 'home', '--dataset', 'partial']
  const given = (rows: string) => {
    writeFileSync(file('partial.csv'), rows)
    return ['import', file('partial.csv'), ...into]
  }
  const rows = async () => (await run('export', 'home/partial')).stdout
  await run(...given('k,v,w\n1,a,x\n2,b,y\n'))
  for (const args of [[], ['--append']]) {
    expect(await run(...given('k,w\n2,W\n'), ...args)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /lacks the column "v" of the dataset\. With --missing null, .*\(--upsert\)/,
      ),
    })
  }
  expect((await run(...given('k,w\n2,W\n3,Z\n'), '--upsert', '--on', 'k')).code).toBe(0)
  expect(await rows()).toBe('k,v,w\n1,a,x\n2,b,W\n3,,Z\n')
  expect((await run(...given('k,w\n4,V\n'), '--append', '--missing', 'null')).code).toBe(0)
  expect((await run(...given('k,v,w,z\n5,e,U,9\n'), '--append', '--columns', 'add')).code).toBe(0)
  expect(await rows()).toBe('k,v,w,z\n1,a,x,\n2,b,W,\n3,,Z,\n4,,V,\n5,e,U,9\n')
})
