import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { parquetry } from './parquetry.ts'

const bin = fileURLToPath(new URL('../../server/bin.js', import.meta.url))
const shell = promisify(execFile)

it('serves samples with commands that work as printed, and leaves nothing behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-demo-test-'))
  // What is set for another server must not concern a demo.
  const env = {
    ...process.env,
    TMPDIR: folder,
    PARQUETRY_DATA: join(folder, 'mine'),
    PARQUETRY_CONFIG: '/none',
  }
  const demo = spawn(process.execPath, [bin, 'demo'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    let said = ''
    for await (const text of demo.stdout) {
      said += text
      if (said.includes('This is a demo')) break
    }
    const key = /API key of root {3}(pq_\w+)/.exec(said)![1]!
    if (said.includes('Console')) expect(said).toContain(`/console/#key=${key}`)
    const commands = said.split('\n').filter((line) => line.startsWith('  curl '))
    expect(commands).toHaveLength(3)
    const answers = await Promise.all(commands.map((line) => shell('sh', ['-c', line])))
    const [first, snow, penguins] = answers.map(({ stdout }) => stdout)
    expect(first!.trimEnd().split('\n')).toHaveLength(6)
    expect(snow).toContain(',snow\n')
    expect(JSON.parse(penguins!)).toHaveLength(2)
    const left = () => readdirSync(folder).filter((name) => name.startsWith('parquetry-demo-'))
    expect(left()).toHaveLength(1)
    demo.kill('SIGINT')
    expect(await once(demo, 'exit')).toEqual([0, null])
    expect(left()).toEqual([])
  } finally {
    demo.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
})

it('refuses a data directory, which it would not use', async () => {
  const { code, stderr } = await parquetry(['demo', '--data', '/somewhere'])
  expect(code).toBe(2)
  expect(stderr).toContain('demo has a directory of its own')
})
