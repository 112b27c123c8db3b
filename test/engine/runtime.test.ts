import { expect, test } from 'vitest'
import { checkRuntime } from '../../engine/util/runtime.ts'

test('Bun and Deno are refused in a sentence that names what runs there', () => {
  expect(() => checkRuntime()).not.toThrow()
  expect(() => checkRuntime({ node: '24.3.0', bun: '1.4.5' })).toThrow(
    "Parquetry's engine and server need Node 22.18 or newer and do not run on Bun 1.4.5. parquetry/client does.",
  )
  expect(() => checkRuntime({ node: '24.3.0', deno: '2.9.6' })).toThrow('do not run on Deno 2.9.6')
})
