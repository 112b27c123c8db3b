import { expect, test } from 'vitest'
import { localTables } from '../../server/commands/tables/local.ts'
import { remoteTables } from '../../server/commands/tables/remote.ts'
import { findDataset, findRepository } from '../../server/commands/tables/tables.ts'
import { dataset, platform } from '../server/platform.ts'

test("a command finds one's own before what is shared and public, and everything by its owner", async () => {
  await using at = await platform()
  const url = await at.listen()
  const [eve, ada, bob, cid] = await Promise.all(['eve', 'ada', 'bob', 'cid'].map((name) => at.account(name)))
  const public1 = await dataset(at, eve!, { name: 'pay' })
  const shared = await dataset(at, ada!, { name: 'pay', private: true })
  const json = { permission: 'Read' }
  await at.call(ada!, 'PUT', `/repositories/${shared.repository}/members/bob`, { json })
  const found = async (key: string, text: string) => {
    const tables = remoteTables(url, key)
    const { id } = await findDataset(tables, `${text}/pay`)
    return { repository: (await findRepository(tables, text)).id, id }
  }
  expect(await Promise.all([ada!, bob!, eve!, cid!].map((key) => found(key, 'pay')))).toEqual([
    shared,
    shared,
    public1,
    public1,
  ])
  for (const key of [ada!, bob!, cid!]) expect(await found(key, 'eve/pay')).toEqual(public1)
  await expect(found(cid!, 'ada/pay')).rejects.toThrow(/There is no dataset "ada\/pay\/pay"/)
  const public2 = await dataset(at, ada!, { name: 'pay' })
  await expect(found(cid!, 'pay')).rejects.toThrow(`use an id instead: ${public1.id}, ${public2.id}`)
  // In the directory itself nothing is one's own.
  const here = localTables({ engine: at.engine, config: at.services.config })
  await expect(findRepository(here, 'pay')).rejects.toThrow(/3 repositories are named "pay"/)
  expect((await findRepository(here, 'eve/pay')).id).toBe(public1.repository)
  expect((await findDataset(here, 'eve/pay/pay')).id).toBe(public1.id)
  const rows = here.sql('SELECT count(*) AS n FROM eve.pay.pay', 'csv', {}, AbortSignal.timeout(60_000))
  expect(Buffer.concat(await Array.fromAsync(rows)).toString()).toBe('n\n10\n')
})
