/**
 * A process that changes a dataset in every way until it is killed, and tells each change before it begins and after it
 * was acknowledged, one JSON value a line.
 */
import { writeSync } from 'node:fs'
import { openEngine } from '../../engine/index.ts'

const [directory, id, seed] = process.argv.slice(2) as [string, string, string]
const tell = (what: object) => writeSync(1, `${JSON.stringify(what)}\n`)
const engine = await openEngine({
  directory,
  role: 'server',
  threads: 1,
  workers: 1,
  partSizes: { rows: 50 },
  keep: { versions: 30 },
})
const dataset = await engine.dataset(Number(id))
let state = Number(seed)
const below = (bound: number) => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
  return (state >>> 8) % bound
}
const csv = (rows: readonly (readonly [number, number])[]) => ({
  format: 'csv' as const,
  body: (async function* () {
    yield Buffer.from(`k,v\n${rows.map((row) => row.join(',')).join('\n')}\n`)
  })(),
})

tell({ ready: true })
for (;;) {
  const kind = (['upsert', 'upsert', 'remove', 'edit', 'restore', 'replace'] as const)[below(6)]!
  const from = below(400)
  const value = below(1_000_000)
  const keys = Array.from({ length: 1 + below(60) }, (_, n) => [from + n, value] as const)
  const versions = await dataset.versions({ limit: 3 })
  const version = versions[below(versions.length)]!.number
  tell({ kind, from, to: from + keys.length, value, version })
  if (kind === 'upsert') await dataset.upsert(csv(keys))
  else if (kind === 'replace') await dataset.replace(csv(keys))
  else if (kind === 'restore') await dataset.restore({ version })
  else {
    const rows = { filter: `k ge ${from} and k lt ${from + keys.length}` }
    await (kind === 'remove' ? dataset.deleteRows(rows) : dataset.editRows(rows, { v: value }))
  }
  tell({ done: true, version: (await dataset.record()).version })
}
