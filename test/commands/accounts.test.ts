import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Served, serveSamples } from '../client/served.ts'
import { type Called, parquetry } from './parquetry.ts'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-accounts-'))
let served: Served

beforeAll(async () => {
  served = await serveSamples()
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

describe.each([
  ['in a data directory', () => ['--data', folder]],
  ['on a server', () => ['--server', served.url, '--key', served.key]],
] as const)('accounts %s', (_where, place) => {
  const run = (...args: string[]): Promise<Called> => parquetry([...place(), ...args])
  const line = async (name: string) =>
    (await run('account', 'list')).stdout.split('\n').find((one) => one.startsWith(`${name}\t`))

  test('are made, listed, moved to a plan, disabled and given another key', async () => {
    const made = await run('account', 'create', 'ada')
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^pq_\w+\n$/), stderr: '' })
    const hint = made.stdout.trim().slice(-4)
    expect(await line('ada')).toMatch(new RegExp(`^ada\tfree\t.*${hint}$`))

    expect(await run('account', 'set-plan', 'ada', 'unlimited')).toEqual({ code: 0, stdout: '', stderr: '' })
    expect((await run('account', 'disable', 'ada')).code).toBe(0)
    expect(await line('ada')).toMatch(/^ada\tunlimited\t.*\tdisabled$/)
    expect((await run('account', 'enable', 'ada')).code).toBe(0)

    const rotated = await run('key', 'rotate', 'ada')
    expect(rotated).toMatchObject({ code: 0, stdout: expect.stringMatching(/^pq_\w+\n$/) })
    expect(rotated.stdout).not.toBe(made.stdout)
    expect(await line('ada')).toMatch(new RegExp(`^ada\tunlimited\t.*${rotated.stdout.trim().slice(-4)}$`))
  })

  test('that are taken, unknown or on no plan are refused in one line', async () => {
    await run('account', 'create', 'bob')
    for (const [args, sentence] of [
      [['account', 'create', 'bob'], 'There is already an account named bob.'],
      [['account', 'create', 'eve', '--plan', 'gold'], 'gold|one of'],
      [['account', 'set-plan', 'nobody', 'free'], 'no account'],
      [['key', 'rotate', 'nobody'], 'no account'],
    ] as const) {
      const refused = await run(...args)
      expect([refused.stdout, refused.code === 0]).toEqual(['', false])
      expect(refused.stderr).toMatch(new RegExp(`^parquetry: .*(${sentence}).*\n$`))
    }
  })
})

test('accounts of a server are for admins', async () => {
  const { stdout } = await parquetry([
    '--server',
    served.url,
    '--key',
    served.key,
    'account',
    'create',
    'eve',
  ])
  const refused = await parquetry(['--server', served.url, '--key', stdout.trim(), 'account', 'list'])
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('admin') })
})
