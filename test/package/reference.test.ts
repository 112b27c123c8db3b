import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EntryPoint, referencePage } from './reference.ts'

const root = resolve(import.meta.dirname, '../..')
const built = mkdtempSync(join(tmpdir(), 'parquetry-types-'))

beforeAll(() => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const options = [
    '-p',
    '.tsconfig.build.json',
    '--outDir',
    built,
    '--emitDeclarationOnly',
    '--declarationMap',
    'false',
  ]
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...options], { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(stdout)
})
afterAll(() => rmSync(built, { recursive: true }))

test('the reference in the guide is what the comments of the source say', async () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, { types?: string }>
  }
  const entries = Object.entries(exports).flatMap(([path, { types }]): EntryPoint[] => {
    // `parquetry/engine` is another name of `parquetry`.
    if (types === undefined || path === './engine') return []
    return [{ name: `parquetry${path.slice(1)}`, file: join(built, types.replace('./dist/', '')) }]
  })
  await expect(referencePage(entries)).toMatchFileSnapshot(join(root, 'docs/reference/library.md'))
})
