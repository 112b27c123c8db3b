import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Engine, migrate, openEngine } from '../../../engine/index.ts'
import { type Account, Accounts } from '../../../server/accounts/accounts.ts'
import { SERVER_STEPS } from '../../../server/accounts/schema.ts'
import { checkSecret, UserKeys, Vault } from '../../../server/accounts/user-keys.ts'

let directory: string
let engine: Engine
let account: Account
const keys = (secret: string) => new UserKeys(engine.database, new Vault(secret))

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parquetry-secret-'))
  engine = await openEngine({ directory })
  await migrate(engine.database, 'server', SERVER_STEPS)
  ;({ account } = await new Accounts(engine.database).create({ name: 'ada', plan: 'pro' }))
  await checkSecret(engine.database, 'first')
  await keys('first').save(account, 'fred', 'the key of ada', async () => {})
})
afterEach(async () => {
  await engine.close()
  rmSync(directory, { recursive: true })
})

test('the same secret is taken again, another one is refused', async () => {
  await checkSecret(engine.database, 'first')
  await expect(checkSecret(engine.database, 'second')).rejects.toThrow(
    'PARQUETRY_SECRET is not the secret with which this catalog is used',
  )
  await expect(checkSecret(engine.database, 'second', 'wrong')).rejects.toThrow(/^PARQUETRY_PREVIOUS_SECRET/)
  expect(await keys('first').reveal(account, 'fred')).toBe('the key of ada')
})

test('with the earlier one it is changed, and saved keys can still be read', async () => {
  await Promise.all([1, 2].map(() => checkSecret(engine.database, 'second', 'first')))
  expect(await keys('second').reveal(account, 'fred')).toBe('the key of ada')
  await checkSecret(engine.database, 'second', 'first')
  await checkSecret(engine.database, 'second')
  await expect(checkSecret(engine.database, 'first')).rejects.toThrow(/PARQUETRY_SECRET is not/)
})

test('if the earlier one is lost, so are the saved keys, when the operator says so', async () => {
  await checkSecret(engine.database, 'second', 'lost')
  expect(await keys('second').list(account)).toEqual([])
  await checkSecret(engine.database, 'second')
})
