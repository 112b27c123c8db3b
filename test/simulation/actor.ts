/**
 * One process of the simulation: does the works of an `Actor` of script.ts on a data directory and tells of each when
 * it began, took its version and ended, one JSON value a line. Times are of the machine's monotonic clock, which all
 * processes share.
 */
import { writeFileSync, writeSync } from 'node:fs'
import { EngineError, openEngine } from '../../engine/index.ts'
import { csv } from '../faults/operations.ts'
import { type Blocks, readBlocks, type Told, writerOf } from './history.ts'
import type { Actor, Work } from './script.ts'

const [directory, process_, text] = process.argv.slice(2) as [string, string, string]
const { role, clock, rounds } = JSON.parse(text) as Actor

const now = () => Number(process.hrtime.bigint())
/** Synchronous, so that what was told is told even when the next instruction is the last. */
const tell = (what: Told) => writeSync(1, `${JSON.stringify(what)}\n`)

for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: Error) => tell({ uncaught: String(error?.stack ?? error) }))
}

let wrong: number = clock[0]
const RealDate = Date
globalThis.Date = class extends RealDate {
  constructor(...given: []) {
    if (given.length === 0) super(RealDate.now() + wrong)
    else super(...given)
  }
  static override now() {
    return RealDate.now() + wrong
  }
} as DateConstructor

writeFileSync(process.env['FAULT_ARM']!, '')
let engine: Awaited<ReturnType<typeof openEngine>>
try {
  engine = await openEngine({ directory, role, threads: 1, workers: 1 })
} catch (error) {
  tell({ failed: 'open', code: codeOf(error), message: (error as Error).message })
  process.exit(0)
}

for (const [index, round] of rounds.entries()) {
  if (index === rounds.length >> 1) wrong += clock[1]
  // A slow reader waits for the others, not for other slow ones.
  const others: Promise<void>[] = []
  const slow: Promise<void>[] = []
  for (const [place, work] of round.entries()) {
    const id = `${process_}.${index}.${place}`
    if (work.kind === 'read' && work.slow) slow.push(attempt(id, work, () => Promise.all(others)))
    else others.push(attempt(id, work))
  }
  await Promise.all([...others, ...slow])
}
try {
  await engine.close()
} catch (error) {
  tell({ failed: 'close', code: codeOf(error), message: (error as Error).message })
}
process.exit(0)

async function attempt(id: string, work: Work, wait?: () => Promise<unknown>): Promise<void> {
  tell({ id, work, begun: now() })
  try {
    tell({ id, ...(await make(id, work, wait)), ended: now(), outcome: 'done' })
  } catch (error) {
    tell({ id, ended: now(), outcome: codeOf(error), message: (error as Error).message })
  }
}

async function make(id: string, work: Work, wait?: () => Promise<unknown>): Promise<{ found?: Blocks }> {
  switch (work.kind) {
    case 'append':
    case 'replace':
    case 'upsert': {
      const { op, rows, kind } = work
      const key = kind === 'upsert' ? work.of : op
      // Bytes, so that those of a round are committed together.
      const body = Buffer.from(csv(key, rows, op))
      const on = kind === 'upsert' && { on: ['op', 'n'] }
      await (await engine.dataset(work.dataset))[kind]({ format: 'csv', body, ...on })
      return {}
    }
    case 'remove': {
      const dataset = await engine.dataset(work.dataset)
      // An upload without rows has columns of text.
      await dataset.deleteRows({ filter: `cast(op,Edm.String) eq '${work.of}'` }).catch((error: unknown) => {
        // Nothing was ever written there.
        if (codeOf(error) !== 'invalid_columns') throw error
      })
      return {}
    }
    case 'restore': {
      const dataset = await engine.dataset(work.dataset)
      const { number: version } = (await dataset.versions({ limit: work.pick + 1 })).at(-1)!
      using query = await dataset.query({ version })
      tell({ id, restored: await readBlocks(query) })
      await dataset.restore({ version })
      return {}
    }
    case 'read': {
      using query = await (await engine.dataset(work.dataset)).query()
      tell({ id, taken: now() })
      await wait?.()
      return { found: await readBlocks(query) }
    }
    case 'past':
      await lookBack(work)
      return {}
    case 'verify':
      await engine.verify()
      return {}
    case 'settle':
      await engine.settled()
      return {}
    default:
      return work satisfies never
  }
}

/**
 * A version has as many rows as it says and always the same ones, and the rows that versions have changed lead from one
 * to the other.
 */
async function lookBack({ dataset: id, pick, span }: Extract<Work, { kind: 'past' }>): Promise<void> {
  const dataset = await engine.dataset(id)
  const versions = await dataset.versions()
  const from = Math.min(pick + span, versions.length - 1)
  const [old, later] = [versions[from]!, versions[Math.max(0, from - span)]!]
  const read = async ({ number }: { readonly number: number }) => {
    using query = await dataset.query({ version: number })
    return await readBlocks(query)
  }
  try {
    const [before, after, again] = [await read(old), await read(later), await read(old)]
    const rows = new Map<number, number>()
    const add = (op: number, count: number) => rows.set(op, (rows.get(op) ?? 0) + count)
    for (const [op, count] of before) add(op, count)
    using changes = await dataset.changes({ since: old.number, until: later.number })
    using query = changes.query()
    for await (const row of query.rows()) add(writerOf(row), row['_change'] === 'insert' ? 1 : -1)
    for (const [op, count] of after) add(op, -count)
    const count = before.reduce((sum, [, each]) => sum + each, 0)
    const story = JSON.stringify({
      old: old.number,
      later: later.number,
      before,
      again,
      after,
      rest: [...rows],
    })
    if (JSON.stringify(again) !== JSON.stringify(before))
      throw new Error(`wrong rows: another time, ${story}`)
    if (count !== old.rowCount) throw new Error(`wrong rows: ${old.rowCount} are told, ${story}`)
    if ([...rows.values()].some(Boolean)) throw new Error(`wrong rows: changes do not lead there, ${story}`)
  } catch (error) {
    // Clocks jump by more than versions are kept.
    if (codeOf(error) !== 'version_gone') throw error
  }
}

function codeOf(error: unknown): string {
  return error instanceof EngineError ? error.code : 'other'
}
