import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataset, type Platform, platform } from '../server/platform.ts'

let at: Platform
beforeAll(async () => {
  at = await platform()
})
afterAll(() => at[Symbol.asyncDispose]())

async function table(csv: string, key?: string[]) {
  const { id } = await dataset(at, at.root, { csv })
  if (key) await at.call(at.root, 'PATCH', `/datasets/${id}`, { json: { key } })
  const send = (method: string, query: string, body: string) =>
    at.call(at.root, method, `/datasets/${id}/data${query}`, {
      body,
      headers: { 'content-type': 'text/csv' },
    })
  const changes = (query: string) => at.call(at.root, 'GET', `/datasets/${id}/changes?${query}`)
  return { id, send, changes }
}

describe('changes', () => {
  it('are the rows of appends and the difference of replacements, as often as their numbers differ', async () => {
    const { send, changes } = await table('n,w\n1,a\n1,a\n2,b\n3,\n')
    await send('POST', '', 'n,w\n4,d\n')
    await send('PUT', '', 'n,w\n3,\n1,a\n4,d\n5,e\n5,e\n')
    const all = await changes('since=1')
    expect([all.statusCode, all.headers['next-since']]).toEqual([200, '3'])
    expect(all.body).toBe(
      '_change,_version,n,w\ninsert,2,4,d\ndelete,3,1,a\ndelete,3,2,b\ninsert,3,5,e\ninsert,3,5,e\n',
    )
    expect((await changes('since=1&until=2')).body).toBe('_change,_version,n,w\ninsert,2,4,d\n')
    expect((await changes('since=3')).body).toBe('_change,_version,n,w\n')
    expect((await changes('since=0&$filter=_version eq 1&$top=1')).body).toBe(
      '_change,_version,n,w\ninsert,1,1,a\n',
    )
    const json = await changes('since=2&$format=json&$select=_change,n&$count=true&$top=1')
    expect([json.json(), json.headers['row-count']]).toEqual([[{ _change: 'delete', n: 1 }], '4'])
  })

  it('have the columns of the rows that a restore of the version before the first upload removed', async () => {
    const { id, send, changes } = await table('n,w\n1,a\n2,b\n')
    await send('PUT', '', 'n,w\n2,b\n3,c\n')
    await at.call(at.root, 'POST', `/datasets/${id}/restore`, { json: { version: 0 } })
    expect((await changes('since=1')).body).toBe(
      '_change,_version,n,w\ndelete,2,1,a\ninsert,2,3,c\ndelete,3,2,b\ndelete,3,3,c\n',
    )
    expect((await changes('since=3')).body).toBe('_change,_version\n')
  })

  it('are found once, whoever asks at the same time, and leave no file behind', async () => {
    const { id, send } = await table(`n,w\n${Array.from({ length: 500 }, (_, n) => `${n},a`).join('\n')}\n`)
    await send('PUT', '', `n,w\n${Array.from({ length: 500 }, (_, n) => `${n * 2},a`).join('\n')}\n`)
    const found = async () => readdirSync(at.engine.temporary).filter((name) => name.startsWith('ingest-'))
    {
      using changes = await (await at.engine.dataset(id)).changes({ since: 1 })
      const counts = ['delete', 'insert'].map(async (change) => {
        using query = changes.query({ filter: `_change eq '${change}'` })
        return query.count()
      })
      expect(await Promise.all(counts)).toEqual([250, 250])
      expect(await found()).toHaveLength(1)
    }
    expect(await found()).toEqual([])
  })

  it('end without an error, even if their file can not be removed', async () => {
    const { id, send } = await table('n,w\n1,a\n')
    await send('PUT', '', 'n,w\n2,b\n')
    const changes = await (await at.engine.dataset(id)).changes({ since: 1 })
    const query = changes.query()
    expect(await query.count()).toBe(2)
    const [name] = readdirSync(at.engine.temporary).filter((one) => one.startsWith('ingest-'))
    const file = join(at.engine.temporary, name!)
    rmSync(file)
    mkdirSync(file)
    // Whichever of them is the last.
    for (const one of [changes, query]) expect(() => one[Symbol.dispose]()).not.toThrow()
    rmSync(file, { recursive: true })
  })

  it('of a dataset with a key pair the row before with the row after', async () => {
    const { id, send, changes } = await table('n,w\n1,a\n2,b\n3,c\n', ['n'])
    await send('PUT', '', 'n,w\n3,c\n2,x\n4,d\n')
    await at.call(at.root, 'PATCH', `/datasets/${id}/data?$filter=n eq 4`, { json: { w: 'y' } })
    expect((await changes('since=2')).body).toBe(
      '_change,_version,n,w\ndelete,3,1,a\nupdate_before,3,2,b\nupdate_after,3,2,x\ninsert,3,4,d\n' +
        'update_before,4,4,d\nupdate_after,4,4,y\n',
    )
    await send('POST', '?mode=upsert', 'n,w\n4,z\n9,i\n')
    await at.call(at.root, 'DELETE', `/datasets/${id}/data?$filter=n lt 4`)
    expect((await changes('since=4')).body).toBe(
      '_change,_version,n,w\nupdate_before,5,4,y\nupdate_after,5,4,z\ninsert,5,9,i\ndelete,6,3,c\ndelete,6,2,x\n',
    )
  })

  it('of an edit pair rows by their places where there is no key', async () => {
    const { id, send, changes } = await table('n,w\n1,a\n2,b\n2,b\n3,c\n')
    await at.call(at.root, 'PATCH', `/datasets/${id}/data?$filter=n ge 2`, { json: { n: '=n add 1' } })
    expect((await changes('since=1')).body).toBe(
      '_change,_version,n,w\nupdate_before,2,2,b\nupdate_after,2,3,b\nupdate_before,2,2,b\nupdate_after,2,3,b\n' +
        'update_before,2,3,c\nupdate_after,2,4,c\n',
    )
    await send('PUT', '', 'n,w\n1,a\n3,z\n')
    expect((await changes('since=2')).body).not.toContain('update')
  })

  it('are in the columns of the newest version, then in those that only older ones have', async () => {
    const { send, changes } = await table('n,w\n1,a\n')
    await send('PUT', '?columns=replace', 'w,_change,n\na,7,1.5\n')
    expect((await changes('since=0')).body).toBe(
      '__change,_version,w,_change,n\ninsert,1,a,,1\ndelete,2,a,,1\ninsert,2,a,7,1.5\n',
    )
    await send('PUT', '?columns=replace', 'n,other\nmuch,8\n')
    expect((await changes('since=2')).body).toBe(
      '__change,_version,n,other,w,_change\ndelete,3,1.5,,a,7\ninsert,3,much,8,,\n',
    )
    const numbers = await changes('since=0&until=2&$format=json&$select=n')
    expect(numbers.json()).toEqual([{ n: 1 }, { n: 1 }, { n: 1.5 }])
    expect((await changes('since=2&$format=parquet')).statusCode).toBe(200)
  })

  it('since a version that is gone are 410 with a link to the table; wrong versions are refused', async () => {
    const { id, send, changes } = await table('n\n1\n')
    await at.call(at.root, 'PATCH', `/datasets/${id}`, { json: { keep: { versions: 1 } } })
    await send('PUT', '', 'n\n2\n')
    await at.engine.settled()
    if (!at.engine.database.isShared) {
      const gone = await changes('since=1')
      expect([gone.statusCode, gone.json().code]).toEqual([410, 'version_gone'])
      expect(gone.headers['link']).toBe(`</datasets/${id}/data>; rel="alternate"`)
    }
    expect((await changes('since=9')).statusCode).toBe(404)
    expect((await changes('since=2&until=9')).statusCode).toBe(404)
    expect((await changes('since=2&until=1')).statusCode).toBe(400)
    for (const query of ['', 'since=x', 'since=-1', 'since=2&$filter=m eq 1']) {
      expect((await changes(query)).statusCode, query).toBe(400)
    }
  })
})
