import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openEngine } from '../../engine/index.ts'
import { fromDisk, isUnknown, leftovers } from '../faults/oracle.ts'
import type { Call, Ran, Shim } from '../faults/shim.ts'
import { type Blocks, contradiction, readBlocks, type Told, type Write } from './history.ts'
import { type Actor, DATASETS, type Epoch, type Script } from './script.ts'

const CALLS: readonly Call[] = [
  'write',
  'pwrite',
  'fsync',
  'fdatasync',
  'rename',
  'unlink',
  'open',
  'ftruncate',
  'mmap',
]

export interface Report {
  /** Promises that were broken, each with its epoch. */
  readonly broken: readonly string[]
  readonly writes: number
  readonly reads: number
  readonly kills: number
  readonly faults: number
}

/** Plays a script on a fresh data directory and holds what was seen against what must be visible. */
export async function play(script: Script, shim: Shim, directory: string): Promise<Report> {
  const report = { broken: [] as string[], writes: 0, reads: 0, kills: 0, faults: 0 }
  mkdirSync(directory, { recursive: true })
  {
    await using engine = await openEngine({ directory, role: 'server', threads: 1, workers: 1 })
    const repository = await engine.createRepository({ name: 'simulation' })
    for (const id of DATASETS) await engine.createDataset({ repositoryId: repository.id, name: `d${id}` })
  }
  let before = new Map<number, Blocks>(DATASETS.map((id) => [id, []]))
  for (const [number, epoch] of script.epochs.entries()) {
    const fail = (reason: string) => report.broken.push(`epoch ${number}: ${reason}`)
    const runs = await Promise.all(epoch.actors.map((actor, at) => act(actor, `${at}`, shim, directory)))
    for (const ran of runs) {
      report.kills += ran.signal === null ? 0 : 1
      report.faults += ran.seen.filter(({ outcome }) => outcome !== 'passed').length
      if (ran.signal && !ran.seen.some(({ outcome }) => outcome === 'killed')) {
        fail(`a process ended by ${ran.signal}: ${ran.errors}`)
      }
    }
    const told = runs.flatMap((ran) => ran.told as unknown as Told[])
    for (const reason of hearsay(told, epoch)) fail(reason)
    const writes = new Map(DATASETS.map((id) => [id, writesTo(id, told)]))
    for (const read of readsOf(told)) {
      report.reads += 1
      const reason = contradiction(
        before.get(read.dataset)!,
        writes.get(read.dataset)!,
        read.found,
        read.moment,
      )
      if (reason) fail(`a read of dataset ${read.dataset} shows ${JSON.stringify(read.found)}: ${reason}`)
    }
    try {
      before = await restart(directory, (id, shown) => {
        report.writes += writes.get(id)!.filter(({ acknowledged }) => acknowledged).length
        const reason = contradiction(before.get(id)!, writes.get(id)!, shown, [Infinity, Infinity])
        if (reason) fail(`after the next start dataset ${id} shows ${JSON.stringify(shown)}: ${reason}`)
      })
    } catch (error) {
      fail(`the next start failed: ${(error as Error).stack}`)
      break
    }
  }
  return report
}

function act(actor: Actor, name: string, shim: Shim, directory: string): Promise<Ran> {
  const path = `${directory}/*`
  const rules = actor.faults.map((fault) => ({ ...fault, calls: CALLS, path }))
  return shim.run(join(import.meta.dirname, 'actor.ts'), [directory, name, JSON.stringify(actor)], rules)
}

/** Opens the directory on a machine that works, and gives what each dataset holds. @throws what is left over or damaged */
async function restart(
  directory: string,
  check: (id: number, shown: Blocks) => void,
): Promise<Map<number, Blocks>> {
  await using engine = await openEngine({ directory, role: 'server', threads: 1, workers: 1 })
  const { problems } = await engine.verify()
  const blocks = new Map<number, Blocks>()
  for (const id of DATASETS) {
    const dataset = await engine.dataset(id)
    using query = await dataset.query()
    const shown = await readBlocks(query)
    const rows = shown.reduce((sum, [, count]) => sum + count, 0)
    const { rowCount } = await dataset.record()
    if (rows !== rowCount)
      throw new Error(`dataset ${id} says that it has ${rowCount} rows and shows ${rows}`)
    blocks.set(id, shown)
  }
  await engine.settled()
  const wrong = [
    ...problems.map((one) => JSON.stringify(one)),
    ...leftovers(directory, (await engine.gc()).files),
  ]
  if (wrong.length > 0) throw new Error(wrong.join('; '))
  for (const [id, shown] of blocks) check(id, shown)
  return blocks
}

/** What no process may ever tell, whatever its disk does. */
function hearsay(told: readonly Told[], epoch: Epoch): string[] {
  const faulty = epoch.actors.some(({ faults }) => faults.length > 0)
  return told.flatMap((line) => {
    if ('uncaught' in line) return [`an error that nobody waited for: ${line.uncaught}`]
    const code = 'failed' in line ? line.code : 'outcome' in line ? line.outcome : 'done'
    const message = 'message' in line ? (line.message ?? '') : ''
    // Clocks jump by more than versions are kept.
    if (code === 'done' || code === 'version_gone') return []
    if (!faulty || (code === 'other' && !fromDisk(message))) return [`${code}: ${message}`]
    return message.startsWith('wrong rows') ? [message] : []
  })
}

/** Writes that happened or may have: one that failed for certain isn't among them. */
function writesTo(dataset: number, told: readonly Told[]): Write[] {
  const ends = new Map(told.flatMap((line) => ('ended' in line ? [[line.id, line] as const] : [])))
  const restored = new Map(
    told.flatMap((line) => ('restored' in line ? [[line.id, line.restored] as const] : [])),
  )
  return told.flatMap((line): Write[] => {
    if (!('work' in line)) return []
    const { work, begun, id } = line
    if (!('op' in work) || work.dataset !== dataset) return []
    const end = ends.get(id)
    const acknowledged = end?.outcome === 'done'
    if (end && !acknowledged && !isUnknown(end.outcome, end.message)) return []
    const { op } = work
    const times = { op, begun, ended: acknowledged ? end!.ended : Infinity, acknowledged }
    if (work.kind === 'remove') return [{ ...times, kind: 'remove', of: work.of, rows: 0 }]
    if (work.kind !== 'restore') return [{ ...times, ...work }]
    const blocks = restored.get(id)
    return blocks ? [{ ...times, kind: 'restore', blocks, rows: 0 }] : []
  })
}

function readsOf(told: readonly Told[]) {
  const taken = new Map(told.flatMap((line) => ('taken' in line ? [[line.id, line.taken] as const] : [])))
  const found = new Map(
    told.flatMap((line) => ('found' in line && line.found ? [[line.id, line.found] as const] : [])),
  )
  return told.flatMap((line) => {
    if (!('work' in line) || line.work.kind !== 'read' || !found.has(line.id)) return []
    const moment = [line.begun, taken.get(line.id)!] as const
    return [{ dataset: line.work.dataset, moment, found: found.get(line.id)! }]
  })
}
