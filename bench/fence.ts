/**
 * What it costs that readers of a saved query see only its rows: the same requests by its owner, who may read the tables
 * below, and by a reader. Milliseconds, the fastest of five: `npx node bench/fence.ts`
 */
import { dataset, platform } from '../test/server/platform.ts'

await using at = await platform()
const [owner, reader] = [await at.account('owner'), await at.account('reader')]
const rows = Array.from({ length: 1_000_000 }, (_, n) => `${n},text ${n % 5_000},${n % 7}\n`)
await dataset(at, owner, { name: 'below', private: true, csv: `n,text,part\n${rows.join('')}` })
const made = await at.call(owner, 'POST', '/repositories', { json: { name: 'shared', private: false } })
const query = { sql: `SELECT n, text, part FROM below WHERE text LIKE '%1%'` }
const saved = await at.call(owner, 'POST', '/datasets', {
  json: { name: 'saved', repositoryId: made.json().id, query },
})
for (const options of [
  '$top=10',
  '$filter=n eq 1234',
  '$filter=n gt 500000&$top=100&$count=true',
  '$apply=groupby((part),aggregate(n with sum as s))',
  '$format=parquet',
]) {
  const times: number[] = []
  for (const key of [owner, reader]) {
    let best = Number.POSITIVE_INFINITY
    for (let run = 0; run < 5; run++) {
      const start = performance.now()
      // Each time another question, to which no answer is kept.
      const other = options.startsWith('$apply') ? `filter(n ne ${run})/` : ''
      const asked = options.startsWith('$apply')
        ? options.replace('=', `=${other}`)
        : `${options}&$skip=${run}`
      const url = `/datasets/${saved.json().id}/data?${asked.replaceAll(' ', '%20')}`
      const { statusCode, body } = await at.call(key, 'GET', url)
      if (statusCode !== 200) throw new Error(body)
      best = Math.min(best, performance.now() - start)
    }
    times.push(Math.round(best))
  }
  console.log(`${options}: owner ${times[0]}, reader ${times[1]}`)
}
