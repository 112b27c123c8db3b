import { tableFromIPC } from 'apache-arrow'
import { afterAll, describe, expect, test } from 'vitest'
import { dataset, platform } from '../server/platform.ts'
import { savedQueries } from './saved-queries.ts'

const { at, ann, bob, sales, shared, save, refused, csv, append, sql, later } = await savedQueries()
afterAll(() => at[Symbol.asyncDispose]())

const TOTALS = {
  sql: 'SELECT shop, sum(amount)::BIGINT AS total, min(day) AS first FROM sales GROUP BY shop ORDER BY shop',
}

describe('a saved query is a dataset', () => {
  test('its columns are known, and its rows are those of the query', async () => {
    const made = await save(TOTALS)
    expect(made).toMatchObject({ query: TOTALS, rowCount: null, bytes: 0 })
    expect(made.columns.map(({ name, type }: never) => `${name} ${type}`)).toEqual([
      'shop string',
      'total integer',
      'first date',
    ])
    expect(await csv(made.id)).toBe('shop,total,first\nA,17,2026-01-01\nB,5,2026-01-02\n')
    expect(await csv(made.id, '$filter=total gt 10&$select=total')).toBe('total\n17\n')
    expect(await csv(made.id, '$orderby=total&$top=1&$compute=total mul 2 as twice')).toBe(
      'shop,total,first,twice\nB,5,2026-01-02,10\n',
    )
    expect(await csv(made.id, '$apply=aggregate(total with sum as t)')).toBe('t\n22\n')
    expect(await csv(made.id, '$last=1')).toBe('shop,total,first\nB,5,2026-01-02\n')
    const arrow = await at.call(bob, 'GET', `/datasets/${made.id}/data?$format=arrow&$count=true`)
    expect(tableFromIPC(arrow.rawPayload).numRows).toBe(2)
    expect(arrow.headers['row-count']).toBe('2')
    const [list] = (await at.call(bob, 'GET', '/datasets')).json().filter(({ id }: never) => id === made.id)
    expect(list).toMatchObject({ rowCount: null, columnCount: 3 })
    expect(JSON.stringify(list)).not.toMatch(/"by"|"tables"/)
  })

  test('options of a query of one dataset can be saved, too', async () => {
    const { id } = await save({
      dataset: sales.id,
      filter: "shop eq 'A'",
      orderby: 'amount',
      select: 'amount',
    })
    expect(await csv(id)).toBe('amount\n7\n10\n')
    const grouped = await save({
      dataset: sales.id,
      apply: 'groupby((shop),aggregate(amount with average as o,$count as x1))',
      filter: 'o gt 6',
      top: 5,
    })
    expect(await csv(grouped.id)).toBe('shop,o,x1\nA,8.5,2\n')
    const named = await dataset(at, ann, { name: 'named', csv: "o,position,x1,it's\n3,a,z,'\n1,b,y,$1\n" })
    const odd = await save({
      dataset: named.id,
      orderby: 'o',
      compute: "concat(x1,'$2') as c0",
      filter: "\"it's\" ne '?'",
    })
    expect(await csv(odd.id)).toBe("o,position,x1,it's,c0\n1,b,y,$1,y$2\n3,a,z,',z$2\n")
    const recent = await save({ dataset: sales.id, filter: 'day lt now()' })
    expect(await csv(recent.id, '$select=amount')).toBe('amount\n10\n5\n7\n')
  })

  test('SQL, OData and other saved queries read it', async () => {
    const totals = await save(TOTALS)
    const top = await save({ sql: `SELECT * FROM dataset_${totals.id} WHERE total > 6` })
    expect(await csv(top.id)).toBe('shop,total,first\nA,17,2026-01-01\n')
    const joined = await sql(
      bob,
      `SELECT a.shop, a.total + b.total AS both FROM dataset_${totals.id} a JOIN dataset_${top.id} b USING (shop)`,
    )
    expect(joined.body).toBe('shop,both\nA,34\n')
    const feed = `/repositories/${shared}/odata`
    const { value } = (await at.call(bob, 'GET', feed)).json()
    const set = value.find(({ title, name }: never) => [title, name].includes(totals.name as never)).url
    const rows = (await at.call(bob, 'GET', `${feed}/${set}?$orderby=total&$count=true`)).json()
    expect(rows['@odata.count']).toBe(2)
    expect(rows.value.map(({ shop }: { shop: string }) => shop)).toEqual(['B', 'A'])
    const paged = await at.call(bob, 'GET', `${feed}/${set}`, { headers: { prefer: 'maxpagesize=1' } })
    const next = await at.call(bob, 'GET', paged.json()['@odata.nextLink'].replace(/^https?:..[^/]+/, ''))
    expect(next.json().value).toMatchObject([{ shop: 'B' }])
    expect((await at.call(bob, 'GET', `${feed}/${set}(2)`)).json()).toMatchObject({ shop: 'B', total: 5 })
    expect((await at.call(bob, 'GET', `${feed}/${set}(3)`)).statusCode).toBe(404)
  })

  test('a change of the tables is seen at once', async () => {
    const table = await dataset(at, ann, { name: 'changing', csv: 'n\n1\n2\n' })
    const { id, version } = await save({
      sql: 'SELECT count(*) AS c, * FROM (SELECT * FROM changing) GROUP BY ALL ORDER BY ALL',
    })
    const url = `/datasets/${id}/data?$format=csv`
    const first = await at.call(bob, 'GET', url)
    const tag = String(first.headers.etag)
    expect(tag).toMatch(/^"/)
    expect((await at.call(bob, 'GET', url, { headers: { 'if-none-match': tag } })).statusCode).toBe(304)
    const replaced = await at.call(ann, 'PUT', `/datasets/${table.id}/data?columns=replace`, {
      body: 'n,m\n3,4\n',
      headers: { 'content-type': 'text/csv' },
    })
    expect(replaced.statusCode).toBe(200)
    const second = await at.call(bob, 'GET', url, { headers: { 'if-none-match': tag } })
    expect([second.statusCode, second.body]).toEqual([200, 'c,n,m\n1,3,4\n'])
    const record = (await at.call(bob, 'GET', `/datasets/${id}`)).json()
    expect(record.columns).toHaveLength(3)
    expect(record.version).toBeGreaterThan(version)
    await at.engine.settled()
    const listed = (await at.call(bob, 'GET', '/datasets'))
      .json()
      .find((one: { id: number }) => one.id === id)
    expect(listed.columnCount).toBe(3)
    const volatile = await save({ sql: 'SELECT random() AS r FROM changing' })
    expect((await at.call(bob, 'GET', `/datasets/${volatile.id}/data`)).headers.etag).toBeUndefined()
    expect(await csv(volatile.id)).not.toBe(await csv(volatile.id))
  })

  test('it can not be written to, and has no versions or files of its own', async () => {
    const { id } = await save(TOTALS)
    const type = { headers: { 'content-type': 'text/csv' } }
    for (const [method, path, options] of [
      ['PUT', 'data', { body: 'a\n1\n', ...type }],
      ['POST', 'data', { body: 'a\n1\n', ...type }],
      ['POST', 'data?mode=upsert&on=shop', { body: 'shop\n1\n', ...type }],
      ['DELETE', "data?$filter=shop eq 'A'", {}],
      ['PATCH', "data?$filter=shop eq 'A'", { json: { shop: 'B' } }],
      ['PUT', 'columns', { json: [{ name: 'a', type: 'string' }] }],
      ['POST', 'restore', { json: { version: 0 } }],
      ['PUT', 'source', { json: { series: ['fred/GDP'] } }],
      ['GET', 'parquet', {}],
      ['GET', 'profile', {}],
      ['GET', 'changes?since=0', {}],
      ['GET', 'data?$version=0', {}],
    ] as const) {
      const { statusCode, body } = await at.call(ann, method, `/datasets/${id}/${encodeURI(path)}`, options)
      expect([statusCode, JSON.parse(body).code], `${method} ${path}: ${body}`).toEqual([409, 'saved_query'])
    }
    const copied = await at.call(ann, 'POST', `/datasets/${id}/copy`, {
      json: { name: 'copy', repositoryId: shared },
    })
    expect(copied.statusCode).toBe(409)
    const renamed = await at.call(ann, 'PATCH', `/datasets/${id}`, {
      json: { name: 'renamed', title: 'Totals' },
    })
    expect(renamed.json()).toMatchObject({ name: 'renamed', title: 'Totals', query: TOTALS })
    expect((await at.call(ann, 'DELETE', `/datasets/${id}`)).statusCode).toBe(204)
  })

  test('what can not be saved is refused', async () => {
    expect(await refused({ sql: 'SELECT * FROM nothing' })).toMatchObject({
      status: 400,
      code: 'unknown_table',
    })
    expect(await refused({ sql: 'SELECT wrong FROM sales' })).toMatchObject({
      status: 400,
      code: 'invalid_sql',
    })
    expect(await refused({ sql: 'DELETE FROM sales' })).toMatchObject({ status: 400, code: 'invalid_sql' })
    expect(await refused({ dataset: sales.id, filter: 'nothing gt 1' })).toMatchObject({
      code: 'invalid_columns',
    })
    expect(await refused({ dataset: 10 ** 9 })).toMatchObject({ code: 'unknown_table' })
    for (const [query, code] of [
      [{}, 'invalid_option'],
      [{ sql: 1 }, 'invalid_body'],
      [{ sql: 'SELECT 1', dataset: 1 }, 'invalid_option'],
      [{ dataset: sales.id, last: 1 }, 'invalid_option'],
      [{ dataset: '1' }, 'invalid_body'],
    ] as const)
      expect(await refused(query), JSON.stringify(query)).toMatchObject({ status: 400, code })
    expect(await refused(TOTALS, { columns: [] })).toMatchObject({ status: 400, code: 'invalid_body' })
    expect(await refused(undefined, { materialize: 'day' })).toMatchObject({
      status: 400,
      code: 'invalid_body',
    })
    expect(await refused(TOTALS, { materialize: 'week' })).toMatchObject({ status: 400 })
    expect(await refused({ sql: 'SELECT now()' }, { materialize: 'on-change' })).toMatchObject({
      status: 400,
      code: 'invalid_body',
    })
    const since = await save({ dataset: sales.id, filter: 'day lt now()' })
    for (const query of [
      { dataset: sales.id, filter: 'day lt now ()' },
      { dataset: sales.id, compute: 'now() as made' },
      { sql: `SELECT * FROM dataset_${since.id}` },
    ])
      expect(await refused(query, { materialize: 'on-change' }), JSON.stringify(query)).toMatchObject({
        status: 400,
        code: 'invalid_body',
      })
    const quoted = { dataset: sales.id, filter: "shop ne 'now()'" }
    const made = await save(quoted, { materialize: 'on-change' })
    expect(made.rowCount).toBe(3)
    expect((await at.call(ann, 'DELETE', `/datasets/${made.id}`)).statusCode).toBe(204)
    expect(await refused({ sql: 'SELECT * FROM "saved 1000"' })).toMatchObject({ code: 'unknown_table' })
  })

  test('eight of them read each other, and no more', async () => {
    let { id } = await save({ sql: 'SELECT 1 AS x' })
    for (let depth = 2; depth <= 8; depth++)
      ({ id } = await save({ sql: `SELECT x + 1 AS x FROM dataset_${id}` }))
    expect(await csv(id)).toBe('x\n8\n')
    expect(await refused({ sql: `SELECT x FROM dataset_${id}` })).toMatchObject({
      status: 409,
      code: 'saved_query',
    })
    expect((await sql(bob, `SELECT x FROM dataset_${id}`)).body).toBe('x\n8\n')
  })

  test('top rows by a cast are right above a saved query', async () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => `${n % 3000},${(n * 7) % 1000}`).join('\n')
    const table = await dataset(at, ann, { name: 'cast', csv: `a,b\n${rows}\n` })
    const { id } = await save({ sql: `SELECT a::INT AS a, b::SMALLINT AS b FROM dataset_${table.id}` })
    expect(await csv(id, '$orderby=a desc,b desc&$top=2&$select=a')).toBe('a\n2999\n2999\n')
  })
})

describe('rights are those of who saved it', () => {
  test('readers need none to the tables below, and see nothing else of them', async () => {
    expect((await sql(bob, 'SELECT * FROM sales')).statusCode).toBe(400)
    const { id } = await save({ sql: "SELECT shop FROM sales WHERE shop <> 'B'" })
    expect(await csv(id)).toBe('shop\nA\nA\n')
    const failed = await sql(bob, `SELECT shop::INTEGER AS n FROM dataset_${id}`)
    expect(failed.statusCode).toBe(400)
    expect(failed.body).not.toMatch(/'[AB]'/)
    expect((await refused({ sql: 'SELECT * FROM sales' }, {}, bob)).status).toBe(403)
  })

  test('what each step took is told only to who may read the tables below', async () => {
    await dataset(at, ann, { name: 'prices', private: true, csv: 'paid\n10\n4321\n' })
    const { id } = await save({ sql: 'SELECT count(*) AS n FROM sales JOIN prices ON amount = paid' })
    const statement = { body: `SELECT * FROM dataset_${id}`, headers: { 'content-type': 'text/plain' } }
    for (const [method, url, options] of [
      ['GET', `/datasets/${id}/data?$explain=true`, {}],
      ['POST', '/sql?$explain=true', statement],
    ] as const) {
      const told = await at.call(bob, method, url, options)
      expect(told.statusCode).toBe(200)
      expect(told.json()).toMatchObject({
        verdict: 'What takes long is told only to who may read all tables below.',
        where: expect.any(String),
        ms: expect.any(Number),
        parts: null,
        rowGroups: null,
        steps: [],
      })
      expect(told.body).not.toMatch(/bytesRead|paid/)
      expect((await at.call(ann, method, url, options)).json().steps).not.toEqual([])
    }
  })

  test('they are checked at each read', async () => {
    const own = await at.call(bob, 'POST', '/repositories', { json: { name: 'own', private: false } })
    const member = (permission?: string) =>
      at.call(ann, permission ? 'PUT' : 'DELETE', `/repositories/${sales.repository}/members/bob`, {
        ...(permission && { json: { permission } }),
      })
    expect((await member('Read')).statusCode).toBeLessThan(300)
    const { id } = await save({ sql: 'SELECT sum(amount)::BIGINT AS s FROM sales' }, {}, bob, own.json().id)
    const before = await at.call(bob, 'GET', `/datasets/${id}/data`)
    expect(before.body).toBe('s\n22\n')
    const kept = { 'if-none-match': String(before.headers.etag) }
    await member()
    for (const headers of [{}, kept]) {
      const after = await at.call(bob, 'GET', `/datasets/${id}/data`, { headers })
      expect([after.statusCode, JSON.parse(after.body).code]).toEqual([409, 'saved_query'])
    }
    expect((await sql(ann, `SELECT * FROM dataset_${id}`)).statusCode).toBe(409)
    expect((await at.call(bob, 'GET', `/datasets/${id}`)).statusCode).toBe(200)
    await member('Read')
    expect(await csv(id)).toBe('s\n22\n')
    await at.call(at.root, 'PUT', '/accounts/bob', { json: { disabled: true } })
    expect((await at.call(ann, 'GET', `/datasets/${id}/data`)).statusCode).toBe(409)
    await at.call(at.root, 'PUT', '/accounts/bob', { json: { disabled: false } })
  })

  test('a name that another table takes later does not change what is read', async () => {
    const first = await dataset(at, ann, { name: 'taken', csv: 'n\n1\n' })
    const { id } = await save({ sql: 'SELECT * FROM taken' })
    await at.call(ann, 'PATCH', `/datasets/${first.id}`, { json: { name: 'was taken' } })
    await dataset(at, ann, { name: 'taken too', csv: 'n\n2\n' })
    expect(await csv(id)).toBe('n\n1\n')
    await at.call(ann, 'DELETE', `/datasets/${first.id}`)
    const gone = await at.call(ann, 'GET', `/datasets/${id}/data`)
    expect([gone.statusCode, gone.json().code]).toEqual([409, 'saved_query'])
    expect((await at.call(ann, 'GET', `/datasets/${id}`)).json().columns).toHaveLength(1)
  })

  test('lost, they are missed at once in the record of a stored query, and no more rows are stored', async () => {
    const table = await dataset(at, ann, { name: 'lost', private: true, csv: 'n\n1\n' })
    const member = (method: 'PUT' | 'DELETE') =>
      at.call(ann, method, `/repositories/${table.repository}/members/bob`, {
        ...(method === 'PUT' && { json: { permission: 'Read' } }),
      })
    await member('PUT')
    const own = (await at.call(bob, 'POST', '/repositories', { json: { name: 'stored' } })).json().id
    const { id } = await save({ sql: 'SELECT n FROM lost.lost' }, { materialize: 'hour' }, bob, own)
    const source = async () => (await at.call(bob, 'GET', `/datasets/${id}/source`)).json()
    expect((await source()).lastError).toBe(null)
    await member('DELETE')
    expect((await source()).lastError).toMatch(/may no longer read it/)
    await append(table.id, 'n\n2\n')
    await later(1)
    expect((await at.call(bob, 'GET', `/datasets/${id}/data`)).body).toBe('n\n1\n')
    await member('PUT')
    await later(1)
    expect((await at.call(bob, 'GET', `/datasets/${id}/data`)).body).toBe('n\n1\n2\n')
    expect((await source()).lastError).toBe(null)
    await at.call(bob, 'DELETE', `/datasets/${id}/source`)
  })

  test('taken between the reading of the statement and of its rows, they are missing', async () => {
    const table = await dataset(at, ann, { name: 'revoked', csv: 'n\n1\n' })
    const [own] = (await at.engine.sqlTables()).filter(({ id }) => id === table.id)
    for (let allowed = 0; allowed < 2; allowed++) {
      let asked = 0
      const tables = async () => (asked++ < allowed ? [own!] : [])
      const reading = async () => {
        using query = await at.engine.sql('SELECT n FROM revoked', [], { tables })
        return await Array.fromAsync(query.rows())
      }
      await expect(reading()).rejects.toMatchObject({ code: 'unknown_table' })
    }
  })

  test('taken between the planning of a saved query and its rows, it fails until they are given again', async () => {
    await using own = await platform()
    const key = await own.account('ann')
    const { repository } = await dataset(own, key, { name: 'revoked', csv: 'n\n1\n' })
    const json = { name: 'saved', repositoryId: repository, query: { sql: 'SELECT n FROM revoked' } }
    const { id } = (await own.call(key, 'POST', '/datasets', { json })).json()
    let mayRead = true
    own.engine.checkSavedQueries(async () => mayRead)
    using nested = await own.engine.sql(`SELECT * FROM dataset_${id}`)
    using direct = await (await own.engine.dataset(id)).query()
    mayRead = false
    for (const query of [nested, direct])
      await expect(Array.fromAsync(query.rows())).rejects.toMatchObject({ code: 'saved_query' })
    mayRead = true
    expect(await Array.fromAsync(direct.rows())).toEqual([{ n: 1 }])
  })
})

describe('materialized queries', () => {
  test('rows are stored as a version, and again when the tables have changed', async () => {
    const table = await dataset(at, ann, { name: 'base', csv: 'n,w\n1,a\n2,b\n' })
    const made = await save(
      { sql: 'SELECT n * 1.5 AS n, w, [n] AS l FROM base ORDER BY n' },
      { materialize: 'on-change' },
    )
    expect(made).toMatchObject({ rowCount: 2, version: 1 })
    expect(made.query).toBeUndefined()
    expect(await csv(made.id)).toBe('n,w,l\n1.5,a,[1]\n3.0,b,[2]\n')
    expect(await later(1)).toBe(1)
    expect((await at.call(bob, 'GET', `/datasets/${made.id}`)).json().version).toBe(1)
    await append(table.id, 'n,w\n5,c\n')
    await later(1)
    expect(await csv(made.id, '$filter=n gt 3')).toBe('n,w,l\n7.5,c,[5]\n')
    const source = (await at.call(ann, 'GET', `/datasets/${made.id}/source`)).json()
    expect(source).toMatchObject({
      every: 'on-change',
      lastVersion: 2,
      lastError: null,
      query: { sql: expect.any(String) },
    })
    const refusedUpload = await append(made.id, 'n,w,l\n1,a,b\n')
    expect([refusedUpload.statusCode, refusedUpload.json().code]).toEqual([409, 'follows_series'])
    expect(refusedUpload.body).toContain('a saved query')
  })

  test('rows of an hour ago stay for an hour, and if the query fails', async () => {
    const table = await dataset(at, ann, { name: 'hourly', csv: 'n\n1\n' })
    const { id } = await save({ dataset: table.id, filter: 'n gt 0' }, { materialize: 'hour' })
    await append(table.id, 'n\n2\n')
    await later(0.5)
    expect(await csv(id)).toBe('n\n1\n')
    await later(0.6)
    expect(await csv(id)).toBe('n\n1\n2\n')
    await at.call(ann, 'DELETE', `/datasets/${table.id}`)
    await later(1)
    expect(await csv(id)).toBe('n\n1\n2\n')
    const source = (await at.call(bob, 'GET', `/datasets/${id}/source`)).json()
    expect(source.lastError).toMatch(/is gone/)
    await at.call(ann, 'DELETE', `/datasets/${id}/source`)
    expect((await append(id, 'n\n9\n')).statusCode).toBe(200)
  })
})
