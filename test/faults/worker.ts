/**
 * Goes through the steps of operations.ts on a data directory, and tells before and after each what it does, one JSON
 * value a line; run under the shim. A step that fails is told with its code, and the next one is tried, as a server
 * would go on.
 */
import { writeFileSync, writeSync } from 'node:fs'
import { EngineError, openEngine } from '../../engine/index.ts'
import { csv, FIRST_STEP, STEPS, type Step, stepOfWrite } from './operations.ts'
import { stateOf } from './state.ts'

const [directory, backup] = process.argv.slice(2) as [string, string]

/** Synchronous, so that what was told is told even when the next instruction is the last. */
const tell = (what: object) => writeSync(1, `${JSON.stringify(what)}\n`)
const codeOf = (error: unknown) => (error instanceof EngineError ? error.code : 'other')

// Nothing of the engine may fail where nobody waits for it: a server would end.
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: Error) => tell({ uncaught: error.stack }))
}

async function attempt(what: object, work: () => unknown): Promise<boolean> {
  tell({ ...what, outcome: 'begun' })
  try {
    tell({ ...what, outcome: 'done', found: (await work()) ?? undefined })
    return true
  } catch (error) {
    tell({ ...what, outcome: codeOf(error), message: (error as Error).message })
    return false
  }
}

// From here on calls are counted, and fail.
writeFileSync(process.env['FAULT_ARM']!, '')
const opened = openEngine({ directory, role: 'server', threads: 1, workers: 1 })
if (await attempt({ phase: 'open' }, () => opened.then(() => undefined))) {
  const engine = await opened

  const upload = (number: number, rows: number) => ({
    format: 'csv' as const,
    body: Buffer.from(csv(number, rows)),
  })

  const make = async (step: Exclude<Step, { kind: 'appends' }>, number: number): Promise<unknown> => {
    switch (step.kind) {
      case 'append':
      case 'replace':
        await (await engine.dataset(step.dataset))[step.kind](upload(number, step.rows))
        return undefined
      case 'remove':
        return (await engine.dataset(step.dataset))
          .deleteRows({ filter: `op eq ${step.of}` })
          .then(() => undefined)
      case 'upsert': {
        const dataset = await engine.dataset(step.dataset)
        return dataset.upsert({ ...upload(step.of, step.rows), on: ['op', 'n'] }).then(() => undefined)
      }
      case 'copy': {
        using snapshot = await (await engine.dataset(step.from)).snapshot()
        const fields = { repositoryId: 1, name: step.name }
        return engine.transaction((t) => snapshot.copy(fields, {}, t)).then(() => undefined)
      }
      case 'create':
        return engine.createDataset({ repositoryId: 1, name: step.name }).then(() => undefined)
      case 'rename':
        return engine.updateDataset(step.dataset, { name: step.name }).then(() => undefined)
      case 'delete':
        return engine.deleteDataset(step.dataset)
      case 'widen': {
        const dataset = await engine.dataset(step.dataset)
        const columns = (await dataset.record()).columns.map((column) =>
          column.name === 'n' ? { ...column, type: 'decimal(20,0)' as const } : column,
        )
        return dataset.declareColumns(columns).then(() => undefined)
      }
      case 'backup':
        return engine.backup(backup).then(() => undefined)
      case 'verify':
        return engine.verify().then((report) => report.problems)
      case 'settle':
        return engine.settled()
      default:
        return step satisfies never
    }
  }

  for (const [index, step] of STEPS.entries()) {
    const number = FIRST_STEP + index
    if (step.kind === 'appends') {
      const appends = Array.from({ length: step.writes }, (_, write) =>
        attempt({ phase: 'step', step: number, write }, async () => {
          await (await engine.dataset(step.dataset)).append(upload(stepOfWrite(number, write), step.rows))
        }),
      )
      await Promise.all(appends)
    } else await attempt({ phase: 'step', step: number }, () => make(step, number))
    if ('dataset' in step) await attempt({ phase: 'read' }, () => stateOf(engine))
  }
  await attempt({ phase: 'close' }, () => engine.close())
}
process.exit(0)
