import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'parquetry-loading-'))
afterAll(() => rmSync(root, { recursive: true }))

const REASON =
  /^DuckDB can't be loaded on this machine \(\S+-\S+\): no koffi for this machine\. Install the packages/

/** Runs a program in a process in which koffi can't be loaded. Gives what it printed. */
function withoutKoffi(program: string): {
  readonly status: number | null
  readonly out: string
  err: string
} {
  const hooks = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(name, context, next) {
        if (name === 'koffi') throw new Error('no koffi for this machine\\nand more')
        return next(name, context)
      },
    })`
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', `${hooks}\n${program}`],
    { encoding: 'utf8', timeout: 30_000, env: { ...process.env, PARQUETRY_DATA: join(root, 'data') } },
  )
  return { status, out: stdout, err: stderr }
}

const urlOf = (file: string) => JSON.stringify(new URL(`../../${file}`, import.meta.url).href)

test('where koffi does not load, a server does not start and says why in one line', () => {
  const { status, err } = withoutKoffi(`
    const { run } = await import(${urlOf('server/commands/program.ts')})
    process.exitCode = await run(['serve', '--port', '0', '--no-samples'])`)
  expect(status).toBe(1)
  const [line] = err
    .trimEnd()
    .split('\n')
    .filter((one) => !/Warning|--trace-warnings/.test(one))
  expect(line?.replace('parquetry: ', '')).toMatch(REASON)
})

test('the first query of a library fails with the same sentence', () => {
  const { out } = withoutKoffi(`
    const { openEngine } = await import(${urlOf('engine/index.ts')})
    await using engine = await openEngine({ directory: ${JSON.stringify(join(root, 'library'))} })
    using query = engine.relation([{ name: 'a', type: 'integer' }], [[1]]).query()
    const error = await Array.fromAsync(query.rows()).catch((error) => error)
    console.log(JSON.stringify([error.code, error.message]))`)
  const [code, message] = JSON.parse(out)
  expect(code).toBe('internal')
  expect(message).toMatch(REASON)
})
