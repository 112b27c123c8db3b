import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dataset, type Platform, platform } from '../server/platform.ts'

let at: Platform
let ann: string
let bob: string
let shared: number

/** As a pattern, it is malformed. */
const HIDDEN = '[ze(bra'

beforeAll(async () => {
  at = await platform()
  ann = await at.account('ann')
  bob = await at.account('bob')
  const rows = Array.from({ length: 400 }, (_, at) => {
    const shows = at % 2 === 0
    return `${at},${shows ? `show ${at}` : `${HIDDEN} ${at}`},${shows ? at : 9e15},${shows ? 'yes' : 'no'},${(at * 7) % 13}`
  })
  const csv = ['id,text,number,visible,part', ...rows, ''].join('\n')
  await dataset(at, ann, { name: 'secrets', private: true, csv })
  const made = await at.call(ann, 'POST', '/repositories', { json: { name: 'shared', private: false } })
  shared = made.json().id
})
afterAll(() => at[Symbol.asyncDispose]())

let count = 0
async function save(key: string, query: object, repositoryId = shared, more: object = {}) {
  const json = { name: `saved_${++count}`, repositoryId, query, ...more }
  const answer = await at.call(key, 'POST', '/datasets', { json })
  if (answer.statusCode !== 201) throw new Error(answer.body)
  return answer.json() as { id: number; name: string }
}

/** Conditions of owners that keep only the visible rows, which DuckDB takes for cheap and for expensive. */
const CONDITIONS = {
  like: `text LIKE '%how%'`,
  lower: `lower(visible) = 'yes'`,
  joined: `id IN (SELECT id FROM secrets WHERE text LIKE 'sh_w%')`,
  sorted: `text LIKE '%how%' ORDER BY text DESC`,
}

/** What a reader may say about rows: each fails on a hidden row, and on no other. */
const SQL_EXPRESSIONS = [
  `regexp_replace('x', text, 'y')`,
  `regexp_split_to_array('a', text)`,
  `CAST(replace(text, 'show ', '') AS INT)`,
  `1000000 * number`,
]
const SQL_STATEMENTS = (table: string, fails: string) => [
  `SELECT count(*) FROM ${table} WHERE ${fails} IS NOT NULL`,
  `SELECT id, ${fails} AS x FROM ${table} ORDER BY id`,
  `SELECT id FROM ${table} WHERE part < 5 AND ${fails} IS NOT NULL ORDER BY id`,
  `SELECT id FROM ${table} ORDER BY ${fails}, id LIMIT 3`,
  `SELECT part, count(${fails}) AS c FROM ${table} GROUP BY part ORDER BY part`,
  `SELECT count(*) FROM ${table} a JOIN ${table} b ON a.id = b.id WHERE (SELECT count(${fails}) FROM ${table} WHERE id = 4) = 1`,
  `SELECT count(*) FROM (SELECT ${fails} AS x FROM ${table}) a JOIN (SELECT ${fails} AS x FROM ${table}) b USING (x)`,
  `SELECT count(*) FROM (SELECT * FROM ${table} UNION ALL SELECT * FROM ${table}) WHERE ${fails} IS NOT NULL`,
  `WITH w AS MATERIALIZED (SELECT * FROM ${table}) SELECT count(*) FROM w WHERE id > 3 AND ${fails} IS NOT NULL`,
  `SELECT count(*) FROM range(20) r(i) WHERE EXISTS (SELECT 1 FROM ${table} WHERE id = r.i AND ${fails} IS NOT NULL)`,
  `SELECT max(x) FROM (SELECT count(${fails}) OVER (PARTITION BY part ORDER BY id) AS x FROM ${table})`,
  `SELECT DISTINCT ON (part) part, ${fails} AS x FROM ${table} ORDER BY part, id`,
]
/** The same in options of a query. */
const OPTIONS = [
  `$filter=cast(substring(text,5),Edm.Int32) ge 0`,
  `$filter=part lt 5 and cast(substring(text,5),Edm.Int32) ge 0`,
  `$filter=number mul 10000 gt 5&$count=true&$top=3`,
  `$orderby=number mul 10000 desc,id&$top=3`,
  `$compute=number mul 10000 as x&$select=id,x`,
  `$compute=cast(substring(text,5),Edm.Int32) as x&$filter=x gt 7`,
  `$apply=filter(number mul 10000 gt 5)/aggregate(id with sum as s)`,
  `$apply=compute(number mul 10000 as x)/groupby((part),aggregate(x with max as m))/orderby(part)`,
  `$apply=groupby((part),aggregate(number mul 10000 with max as m))/filter(part lt 5)/orderby(part)`,
  `$apply=topcount(3,number mul 10000)/orderby(id)`,
  `$search=show&$filter=number mul 10000 gt 5`,
]

const sql = (key: string, text: string) =>
  at.call(key, 'POST', '/sql', { body: text, headers: { 'content-type': 'text/plain' } })
const data = (key: string, id: number, query: string) =>
  at.call(key, 'GET', `/datasets/${id}/data?${query.replaceAll(' ', '%20')}`)

describe('what a saved query leaves out', () => {
  for (const [name, condition] of Object.entries(CONDITIONS)) {
    test(`no expression of a reader sees rows that ${name} leaves out, over any door`, async () => {
      const select = `SELECT id, text, number, part FROM secrets WHERE ${condition}`
      const saved = await save(ann, { sql: select })
      const nested = await save(ann, { sql: `SELECT * FROM dataset_${saved.id} WHERE id >= 0` })
      const ofReader = await save(bob, { sql: `SELECT * FROM ${saved.name}` }, await repositoryOf(bob))
      // The rows that may be seen, in a table of their own.
      const { body: csv } = await data(ann, saved.id, '$format=csv')
      const copy = await dataset(at, bob, { name: `copy_${saved.id}`, csv })
      expect((await data(bob, copy.id, '')).body).not.toContain(HIDDEN)
      for (const { id } of [saved, nested, ofReader]) {
        for (const options of OPTIONS) {
          const [over, equal] = [await data(bob, id, options), await data(bob, copy.id, options)]
          expect([options, over.statusCode, over.body]).toEqual([options, equal.statusCode, equal.body])
          expect(equal.statusCode, equal.body).toBe(200)
        }
        for (const fails of id === saved.id ? SQL_EXPRESSIONS : SQL_EXPRESSIONS.slice(0, 1)) {
          for (const statement of SQL_STATEMENTS('T', fails)) {
            const [over, equal] = [
              await sql(bob, statement.replaceAll(/\bT\b/g, `dataset_${id}`)),
              await sql(bob, statement.replaceAll(/\bT\b/g, `dataset_${copy.id}`)),
            ]
            expect([statement, over.statusCode, over.body]).toEqual([statement, equal.statusCode, equal.body])
            expect(equal.statusCode, equal.body).toBe(200)
          }
        }
      }
      const feed = `/repositories/${shared}/odata/${saved.name}`
      for (const options of OPTIONS.filter((one) => !one.startsWith('$search'))) {
        const answer = await at.call(bob, 'GET', `${feed}?${options.replaceAll(' ', '%20')}`)
        expect([options, answer.statusCode, answer.statusCode === 200 ? '' : answer.body]).toEqual([
          options,
          200,
          '',
        ])
      }
    }, 600_000)
  }

  test('no error tells a value of a row, or a name in the tables below', async () => {
    const failing = await save(ann, { sql: 'SELECT id, 1000000 * number AS big FROM secrets' })
    for (const options of ['', '$filter=big gt 5', '$orderby=big', '$apply=aggregate(big with max as m)']) {
      const { statusCode, body } = await data(bob, failing.id, options)
      expect([statusCode, body]).toEqual([400, expect.not.stringMatching(/9000000000000000|1000000/)])
    }
    expect((await sql(bob, `SELECT max(big) FROM dataset_${failing.id}`)).body).not.toMatch(
      /9000000000000000/,
    )
    // Who may read the tables is told which value it was.
    expect((await data(ann, failing.id, '')).body).toMatch(/9000000000000000/)
    const stored = await save(ann, { sql: 'SELECT id, 1000000 * number AS big FROM secrets' }, shared, {
      materialize: 'day',
    })
    const lastError = async (key: string) =>
      (await at.call(key, 'GET', `/datasets/${stored.id}/source`)).json().lastError
    expect(await lastError(bob)).toBe('The query could not be read. The account that set it sees why.')
    expect(await lastError(ann)).toMatch(/9000000000000000/)
    const table = await dataset(at, ann, { name: 'changing', private: true, csv: 'salary,n\n1,2\n' })
    const outdated = await save(ann, { sql: 'SELECT salary FROM changing' })
    await at.call(ann, 'PUT', `/datasets/${table.id}/data?columns=replace`, {
      body: 'salaries,n\n1,2\n',
      headers: { 'content-type': 'text/csv' },
    })
    const told = await data(bob, outdated.id, '')
    expect([told.statusCode, told.json().code, told.body]).toEqual([
      409,
      'saved_query',
      expect.not.stringMatching(/salar/),
    ])
    expect((await data(ann, outdated.id, '')).body).toMatch(/salary/)
  })

  test('its text is for those who may write there, and for nobody else', async () => {
    const secret = "text LIKE '%unspoken%'"
    const saved = await save(ann, { sql: `SELECT id FROM secrets WHERE ${secret}` })
    const stored = await save(ann, { sql: `SELECT id FROM secrets WHERE ${secret}` }, shared, {
      materialize: 'day',
    })
    const member = await at.account('member')
    const writer = await at.account('writer')
    const setMember = (account: string, permission: string) =>
      at.call(ann, 'PUT', `/repositories/${shared}/members/${account}`, { json: { permission } })
    expect((await setMember('member', 'Read')).statusCode).toBeLessThan(300)
    expect((await setMember('writer', 'Write')).statusCode).toBeLessThan(300)
    const paths = [
      ...['', '/data', '/data?$explain=true', '/data?$explain=sql', '/columns', '/versions', '/source'].map(
        (end) => `/datasets/${saved.id}${end}`,
      ),
      ...['croissant', 'datapackage', 'schema'].map((name) => `/datasets/${saved.id}/${name}.json`),
      `/datasets/${stored.id}`,
      `/datasets/${stored.id}/source`,
      `/datasets/${stored.id}/versions`,
      '/datasets',
      '/datasets?columns=true',
      '/search?q=unspoken',
      `/repositories/${shared}/odata/$metadata`,
    ]
    for (const key of [bob, member]) {
      for (const path of paths) {
        const { statusCode, body } = await at.call(key, 'GET', path)
        expect([path, body]).toEqual([path, expect.not.stringContaining('%unspoken%')])
        expect(statusCode).toBeLessThan(500)
      }
    }
    for (const key of [ann, writer]) {
      expect((await at.call(key, 'GET', `/datasets/${saved.id}`)).body).toMatch(/unspoken/)
      expect((await at.call(key, 'GET', `/datasets/${stored.id}/source`)).body).toMatch(/unspoken/)
      expect((await at.call(key, 'GET', '/datasets')).body).toMatch(/unspoken/)
    }
    const link = await at.call(ann, 'POST', '/links', {
      json: { path: `/datasets/${saved.id}/data?$explain=true` },
    })
    const explained = await at.call(undefined, 'GET', link.json().url)
    expect([explained.statusCode, explained.json().steps]).toEqual([200, []])
  })
})

async function repositoryOf(key: string): Promise<number> {
  const made = await at.call(key, 'POST', '/repositories', {
    json: { name: `own ${++count}`, private: true },
  })
  return made.json().id
}
