import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, test } from 'vitest'
import { openEngine } from '../../engine/index.ts'

/** How often the writer is killed; PARQUETRY_CRASHES=200 for a long run. */
const CRASHES = Number(process.env['PARQUETRY_CRASHES'] ?? 20)

interface Line {
  readonly doing?: string
  readonly did?: string
  readonly id: number
  readonly operation: number
  readonly rows?: number
}

/** What each dataset holds: operations and their numbers of rows, in order. */
type Model = Map<number, { operation: number; rows: number }[]>

function apply(model: Model, { id, operation, rows = 0 }: Line, what: string): void {
  if (what === 'create') model.set(id, [])
  else if (what === 'delete') model.delete(id)
  else if (what === 'replace') model.set(id, [{ operation, rows }])
  else model.get(id)!.push({ operation, rows })
}

const directory = mkdtempSync(join(tmpdir(), 'parquetry-crash-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Runs the writer for a while and kills it. Gives what it told. */
async function crash(firstOperation: number, milliseconds: number): Promise<Line[]> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'writer.ts'), directory, String(firstOperation)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const lines: Line[] = []
  let timer: NodeJS.Timeout | undefined
  for await (const line of createInterface({ input: child.stdout })) {
    timer ??= setTimeout(() => child.kill('SIGKILL'), milliseconds)
    lines.push(JSON.parse(line) as Line)
  }
  clearTimeout(timer)
  expect(lines.length).toBeGreaterThan(0)
  return lines
}

test(
  `after each of ${CRASHES} kills every acknowledged write is there and no other is half there`,
  async () => {
    let expected: Model = new Map()
    let operation = 0
    for (let round = 0; round < CRASHES; round++) {
      const lines = await crash(operation, 20 + Math.random() * 400)
      let open: Line | undefined
      for (const line of lines) {
        operation = line.operation + 1
        if (line.did) apply(expected, line, line.did)
        open = line.doing ? line : undefined
      }
      await using engine = await openEngine({ directory, role: 'server', threads: 1 })
      const found: Model = new Map()
      for (const { id, rowCount } of await engine.datasets()) {
        const blocks: { operation: number; rows: number }[] = []
        using query = await (await engine.dataset(id)).query()
        for await (const row of query.rows()) {
          const last = blocks.at(-1)
          if (last && last.operation === row['op']) {
            expect(row['n']).toBe(last.rows)
            last.rows += 1
          } else {
            expect(row['n']).toBe(0)
            blocks.push({ operation: row['op'] as number, rows: 1 })
          }
        }
        expect(blocks.reduce((sum, block) => sum + block.rows, 0)).toBe(rowCount)
        found.set(id, blocks)
      }
      // What was under way happened whole or not at all. A dataset made but not told of is empty.
      const candidates = [expected]
      if (open) {
        const after: Model = new Map([...expected].map(([id, blocks]) => [id, [...blocks]]))
        apply(after, open, open.doing!)
        candidates.push(after)
      }
      for (const [id, blocks] of found) {
        if (blocks.length === 0 && !expected.has(id)) for (const model of candidates) model.set(id, [])
      }
      expect(candidates.map((model) => Object.fromEntries(model))).toContainEqual(Object.fromEntries(found))
      expected = found

      const report = await engine.verify()
      expect(report.problems).toEqual([])
      await engine.settled()
      await engine.gc()
      const kept = await engine.transaction(
        async () =>
          (await engine.database.get<{ n: number }>('SELECT count(*) AS n FROM parts WHERE process IS NULL'))!
            .n,
      )
      expect(readdirSync(join(directory, 'parts'))).toHaveLength(Number(kept))
      // This process's own folder and lock, and the server's lock, are all that is left.
      expect(readdirSync(join(directory, 'tmp'))).toHaveLength(1)
      expect(readdirSync(join(directory, 'locks')).filter((name) => name.endsWith('.lock'))).toHaveLength(2)
    }
  },
  CRASHES * 15_000,
)
