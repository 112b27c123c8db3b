import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parquetry } from './parquetry.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-places-'))
const file = (name: string) => join(folder, name)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each([
  ['verify'],
  ['gc'],
  ['backup', file('backup')],
  ['export', '1'],
  ['repository', 'list'],
  ['key', 'rotate', 'root'],
])('%s refuses a data directory that is not there, and makes none', async (...command) => {
  expect(await parquetry(['--data', file('mistyped'), ...command])).toEqual({
    code: 2,
    stdout: '',
    stderr: `parquetry: There is no data in ${file('mistyped')}: name the data directory with --data or PARQUETRY_DATA.\n`,
  })
  expect(existsSync(file('mistyped'))).toBe(false)
})

test('a file in place of the data directory is refused', async () => {
  writeFileSync(file('data.csv'), 'a\n1\n')
  expect(await parquetry(['--data', file('data.csv'), 'serve'])).toMatchObject({
    code: 1,
    stderr: `parquetry: ${file('data.csv')}: it is a file, not a folder\n`,
  })
})

test('a port that is taken is named before the first account is made, so that its key is not lost', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as { port: number }
  const data = file('first')
  const start = ['--data', data, 'serve', '--host', '127.0.0.1', '--port', String(port)]
  expect(await parquetry(start)).toEqual({
    code: 1,
    stdout: '',
    stderr: `parquetry: Another program listens on port ${port} of 127.0.0.1: choose another port with --port.\n`,
  })
  other.close()
  // The list is empty: there is no account yet, not even `root`.
  expect(await parquetry(['--data', data, 'account', 'list'])).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('an address that this machine does not have is named', async () => {
  const start = ['--data', file('far'), 'serve', '--host', '192.0.2.1', '--port', '0']
  expect((await parquetry(start)).stderr).toBe(
    "parquetry: The server can't listen on 192.0.2.1: give an address of this machine with --host (EADDRNOTAVAIL).\n",
  )
})
