import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'parquetry-source-'))
afterAll(() => rmSync(root, { recursive: true }))

/** What an executor is and says in a process where koffi loads, or doesn't. */
function opened(options: { readonly koffi: boolean; readonly source: string }): Record<string, unknown> {
  const module = new URL('../../engine/export/index.ts', import.meta.url).href
  const program = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(name, context, next) {
        if (name === 'koffi' && ${!options.koffi}) throw new Error('no koffi for this machine')
        return next(name, context)
      },
    })
    const { openExecutor } = await import('${module}')
    const told = []
    try {
      const executor = await openExecutor({
        tempDirectory: ${JSON.stringify(root)},
        allowedDirectories: [],
        source: '${options.source}',
        onSlower: (reason) => told.push(reason.message),
      })
      const rows = await executor.rows({
        sql: 'SELECT CAST(7 AS BIGINT)', parameters: [], columns: [{ name: 'n', type: 'integer' }],
      })
      console.log(JSON.stringify({ source: executor.stats().source, told, rows }))
      await executor.close()
    } catch (error) {
      console.log(JSON.stringify({ failed: error.message, told }))
    }`
  const text = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  return JSON.parse(text)
}

test('where koffi loads, nothing is told', () => {
  expect(opened({ koffi: true, source: 'auto' })).toEqual({ source: 'ffi', told: [], rows: [[7]] })
})

test('where it does not, the slower source is taken and its reason told once', () => {
  expect(opened({ koffi: false, source: 'auto' })).toEqual({
    source: 'node',
    told: ['no koffi for this machine'],
    rows: [[7]],
  })
})

test('an engine tells it as an event, counts it, and names the source in its figures', () => {
  const module = new URL('../../engine/index.ts', import.meta.url).href
  const program = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(name, context, next) {
        if (name === 'koffi') throw new Error('no koffi for this machine')
        return next(name, context)
      },
    })
    const { openEngine } = await import('${module}')
    const told = []
    await using engine = await openEngine({
      directory: ${JSON.stringify(join(root, 'data'))},
      onEvent: ({ kind, level, cause }) => told.push([kind, level, cause.message]),
    })
    for (let n = 0; n < 2; n++) {
      using query = engine.relation([{ name: 'a', type: 'integer' }], [[1]]).query()
      await Array.fromAsync(query.rows())
    }
    const { executor, events } = await engine.stats()
    console.log(JSON.stringify({ told, source: executor.source, counted: events.slower_source }))`
  const text = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  expect(JSON.parse(text)).toEqual({
    told: [['slower_source', 'warn', 'no koffi for this machine']],
    source: 'node',
    counted: 1,
  })
})

test('who asks for the fast one gets the error', () => {
  expect(opened({ koffi: false, source: 'ffi' })).toEqual({ failed: 'no koffi for this machine', told: [] })
})
