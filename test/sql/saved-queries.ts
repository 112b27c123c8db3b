import { dataset, platform } from '../server/platform.ts'

const CSV = 'shop,amount,day\nA,10,2026-01-01\nB,5,2026-01-02\nA,7,2026-01-03\n'

/** A service with a private table of Ann's, `sales`, and a repository of hers that Bob may read, for saved queries. */
export async function savedQueries() {
  const clock = { now: new Date('2026-03-01T10:00:00Z') }
  const at = await platform({ now: () => clock.now })
  const ann = await at.account('ann')
  const bob = await at.account('bob')
  const sales = await dataset(at, ann, { name: 'sales', private: true, csv: CSV })
  const made = await at.call(ann, 'POST', '/repositories', { json: { name: 'shared', private: false } })
  const shared: number = made.json().id
  let count = 0
  const create = (query: unknown, more: object, key: string, repositoryId: number) => {
    const json = { name: `saved ${++count}`, repositoryId, query, ...more }
    return at.call(key, 'POST', '/datasets', { json })
  }
  return {
    at,
    ann,
    bob,
    sales,
    shared,
    async save(query: object, more: object = {}, key = ann, repositoryId = shared) {
      const answer = await create(query, more, key, repositoryId)
      if (answer.statusCode !== 201) throw new Error(answer.body)
      return answer.json()
    },
    async refused(query: unknown, more: object = {}, key = ann) {
      const { statusCode, body } = await create(query, more, key, shared)
      return { status: statusCode, ...JSON.parse(body) }
    },
    csv: async (id: number, query = '', key = bob) =>
      (await at.call(key, 'GET', `/datasets/${id}/data?${query}`)).body,
    append: (id: number, body: string) =>
      at.call(ann, 'POST', `/datasets/${id}/data`, { body, headers: { 'content-type': 'text/csv' } }),
    sql: (key: string, text: string) =>
      at.call(key, 'POST', '/sql', { body: text, headers: { 'content-type': 'text/plain' } }),
    /** Runs what is due some hours later. */
    later(hours: number) {
      clock.now = new Date(clock.now.getTime() + hours * 3_600_000)
      return at.services.refresher.runDue()
    },
  }
}
