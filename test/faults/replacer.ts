import { writeFileSync } from 'node:fs'
import { EngineError, openEngine } from '../../engine/index.ts'

/**
 * Replaces the rows of dataset 1 by `new` while calls fail, then tries to go on as a server would, and ends as it does
 * at a SIGTERM. Prints what happened, one JSON value a line.
 */
const [directory, role] = process.argv.slice(2)

const tell = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`)

async function attempt(step: string, work: () => Promise<unknown>): Promise<void> {
  try {
    tell({ step, outcome: 'done', value: await work() })
  } catch (error) {
    const outcome = error instanceof EngineError ? error.code : 'other'
    tell({ step, outcome, message: (error as Error).message })
  }
}

function rows(text: string) {
  const body = (async function* () {
    yield Buffer.from(`text\n${`${text}\n`.repeat(1_000)}`)
  })()
  return { format: 'csv' as const, body }
}

const engine = await openEngine({
  // So that what is replaced is removed at once.
  keep: { versions: 1 },
  directory: directory!,
  role: role as 'server' | 'guest',
  threads: 1,
  workers: 1,
  onEvent: ({ kind }) => tell({ event: kind }),
})
// What is opened at the first use is opened before calls fail.
await (await engine.dataset(2)).replace(rows('other'))
await engine.settled()
writeFileSync(process.env['FAULT_ARM']!, '')
await attempt('replace', async () => void (await (await engine.dataset(1)).replace(rows('new'))))
await attempt('again', async () => void (await (await engine.dataset(2)).append(rows('more'))))
await attempt('rename', async () => void (await engine.updateDataset(2, { description: 'changed' })))
await attempt('read', async () => {
  const texts = new Set<unknown>()
  using query = await (await engine.dataset(1)).query()
  let count = 0
  for await (const row of query.rows()) {
    texts.add(row['text'])
    count += 1
  }
  return { texts: [...texts], count }
})
await engine.settled()
await attempt('close', () => engine.close())
