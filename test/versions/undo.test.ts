import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataset, type Platform, platform } from '../server/platform.ts'

let at: Platform
beforeAll(async () => {
  at = await platform()
})
afterAll(() => at[Symbol.asyncDispose]())

async function table(csv = 'n,word,price\n1,a,1.5\n2,b,\n3,c,3.5\n', key: readonly string[] = ['n']) {
  const { id } = await dataset(at, at.root, { csv })
  const call = (method: string, path: string, options = {}) =>
    at.call(at.root, method, `/datasets/${id}/${path}`, options)
  if (key.length > 0) {
    const { statusCode } = await at.call(at.root, 'PATCH', `/datasets/${id}`, { json: { key } })
    expect(statusCode).toBe(200)
  }
  const write = async (method: string, query: string, body: string) => {
    const headers = { 'content-type': 'text/csv' }
    const { statusCode } = await call(method, `data${query}`, { body, headers })
    expect(statusCode).toBe(200)
    return (await at.call(at.root, 'GET', `/datasets/${id}`)).json().version as number
  }
  const edit = async (filter: string, json?: object) =>
    (await call(json ? 'PATCH' : 'DELETE', `data?$filter=${filter}`, json ? { json } : {})).json()
      .version as number
  const undo = (version: number, options = {}) => call('POST', 'undo', { json: { version }, ...options })
  const rows = async () => (await call('GET', 'data?$orderby=n')).body
  return { id, call, write, edit, undo, rows }
}

describe('undoing the change of one version', () => {
  it('takes back inserted, changed and deleted rows, and keeps what others changed later', async () => {
    const { id, call, write, edit, undo, rows } = await table()
    const upsert = await write('POST', '?mode=upsert', 'n,word,price\n2,B,2.5\n4,d,4.5\n')
    const deletion = await edit('n eq 3')
    await edit('n eq 1', { word: 'A' })
    await write('POST', '', 'n,word,price\n5,e,5.5\n')
    const undone = await undo(upsert)
    expect(undone.json()).toEqual({ version: 7, matchedRows: 2 })
    expect(await rows()).toBe('n,word,price\n1,A,1.5\n2,b,\n5,e,5.5\n')
    expect((await undo(deletion)).json()).toEqual({ version: 8, matchedRows: 1 })
    expect(await rows()).toBe('n,word,price\n1,A,1.5\n2,b,\n3,c,3.5\n5,e,5.5\n')
    const versions = (await call('GET', 'versions?limit=2')).json()
    expect(versions).toMatchObject([
      {
        operation: 'restore',
        by: 'root',
        note: `The change of version ${deletion}, undone.`,
        addedRows: 1,
        removedRows: 0,
      },
      { operation: 'restore', addedRows: 1, removedRows: 2 },
    ])
    const changes = await at.call(at.root, 'GET', `/datasets/${id}/changes?since=6&until=7`)
    expect(
      changes.body
        .split('\n')
        .slice(1, -1)
        .map((row) => row.split(',').slice(0, 3).join()),
    ).toEqual(['update_before,7,2', 'update_after,7,2', 'delete,7,4'])
  })

  it('changes nothing, and names the rows, where later versions changed them', async () => {
    const { edit, undo, rows } = await table()
    const first = await edit('n ge 2', { word: 'x' })
    await edit('n eq 3', { price: 9 })
    const before = await rows()
    const refused = await undo(first)
    expect([refused.statusCode, refused.json()]).toEqual([
      409,
      {
        error: `The row with n = 3 was changed again after version ${first}. Undo the later change first, or edit the rows.`,
        code: 'rows_changed',
        value: 'n = 3',
        columns: ['n'],
        errors: [{ value: 'n = 3', error: `The row with n = 3 was changed again after version ${first}.` }],
      },
    ])
    expect(await rows()).toBe(before)
    expect((await undo(first + 1)).statusCode).toBe(200)
    expect((await undo(first)).json().matchedRows).toBe(2)
    expect(await rows()).toBe('n,word,price\n1,a,1.5\n2,b,\n3,c,3.5\n')
  })

  it('finds rows by all columns of a key, of which some may be null', async () => {
    const { edit, write, undo, call } = await table('a,b,n\n1,,1\n1,x,2\n2,x,3\n', ['a', 'b'])
    const first = await edit('b eq null', { n: 10 })
    await write('POST', '?mode=upsert', 'a,b,n\n1,x,20\n')
    expect((await undo(first)).json().matchedRows).toBe(1)
    expect((await call('GET', 'data?$orderby=n')).body).toBe('a,b,n\n1,,1\n2,x,3\n1,x,20\n')
    const second = await edit('b eq null')
    await write('POST', '', 'a,b,n\n1,,5\n')
    expect((await undo(second)).json().value).toBe('a = 1, b = null')
  })

  it('makes no version where nothing changed, and one where all rows were replaced', async () => {
    const { write, undo, rows } = await table()
    const same = await write('PUT', '', 'n,word,price\n3,c,3.5\n1,a,1.5\n2,b,\n')
    expect((await undo(same)).json()).toEqual({ version: same, matchedRows: 0 })
    const all = await write('PUT', '', 'n,word,price\n1,z,1\n9,z,1\n')
    expect((await undo(all)).json()).toEqual({ version: all + 1, matchedRows: 4 })
    expect(await rows()).toBe('n,word,price\n1,a,1.5\n2,b,\n3,c,3.5\n')
  })

  it('needs a key, the same columns, and versions that are kept', async () => {
    const plain = await table('n\n1\n', [])
    const version = await plain.write('POST', '', 'n\n2\n')
    const refused = await plain.undo(version)
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'column_conflict'])
    expect(refused.json().error).toContain(
      'the dataset has no key, by which its rows are found. Restore version 1,',
    )
    const { undo, edit, call, write } = await table()
    const first = await edit('n eq 1')
    await write('POST', '?columns=add', 'n,word,price,more\n7,g,7.5,x\n')
    expect((await undo(first)).json().error).toContain('the columns or the key were others then')
    expect((await undo(0)).json()).toMatchObject({ code: 'invalid_option', option: 'version' })
    expect((await undo(99)).statusCode).toBe(404)
    expect((await call('POST', 'undo', { json: {} })).statusCode).toBe(400)
  })

  it('is done once for each Idempotency-Key, and only of the state that If-Match names', async () => {
    const { edit, undo } = await table()
    const first = await edit('n eq 1')
    expect((await undo(first, { headers: { 'if-match': '"old"' } })).statusCode).toBe(412)
    const headers = { 'idempotency-key': 'undo-once' }
    const answers = [await undo(first, { headers }), await undo(first, { headers })]
    expect(answers.map((one) => one.json())).toEqual(Array(2).fill({ version: first + 1, matchedRows: 1 }))
  })
})
