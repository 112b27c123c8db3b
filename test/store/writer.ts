/**
 * Writes until it is killed: uploads, appends, declares and deletes at random, telling before and after each what it
 * does, one JSON line each. Run by crash.test.ts in a process of its own.
 */
import { writeSync } from 'node:fs'
import { openEngine } from '../../engine/index.ts'

const [directory, firstOperation] = process.argv.slice(2)
const engine = await openEngine({ directory: directory!, role: 'server', threads: 1 })
const repository = (await engine.repositories())[0] ?? (await engine.createRepository({ name: 'crash' }))
const ROWS = [1, 40, 5_000, 60_000]

function tell(line: object): void {
  // Synchronous, so that what was told is told even when the next instruction is the last.
  writeSync(1, `${JSON.stringify(line)}\n`)
}

async function* csv(operation: number, rows: number): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  yield encoder.encode('op,n,text\n')
  for (let row = 0; row < rows; row += 1_000) {
    let text = ''
    for (let n = row; n < Math.min(rows, row + 1_000); n++)
      text += `${operation},${n},row ${n} of ${operation}\n`
    yield encoder.encode(text)
  }
}

for (let operation = Number(firstOperation); ; operation++) {
  const datasets = await engine.datasets()
  const chance = Math.random()
  const rows = ROWS[Math.floor(Math.random() * ROWS.length)]!
  const picked = datasets[Math.floor(Math.random() * datasets.length)]
  if (!picked || (chance < 0.1 && datasets.length < 4)) {
    const { id } = await engine.createDataset({
      repositoryId: repository.id,
      name: `d${operation}`,
      columns: [
        { name: 'op', type: 'integer' },
        { name: 'n', type: 'integer' },
        { name: 'text', type: 'string' },
      ],
    })
    tell({ did: 'create', id, operation })
  } else if (chance < 0.18 && datasets.length > 1) {
    tell({ doing: 'delete', id: picked.id, operation })
    await engine.deleteDataset(picked.id)
    tell({ did: 'delete', id: picked.id, operation })
  } else {
    const mode = chance < 0.4 ? 'replace' : 'append'
    tell({ doing: mode, id: picked.id, operation, rows })
    await (await engine.dataset(picked.id))[mode]({ body: csv(operation, rows), format: 'csv' })
    tell({ did: mode, id: picked.id, operation, rows })
  }
}
