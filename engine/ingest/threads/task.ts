import { cancelled } from '../../duckdb/errors.ts'
import type { Hooks } from './hooks.ts'

/**
 * The passes over an upload that are done in JavaScript, by name. Arguments and results are plain data. The code of a
 * pass is loaded when it is first needed: a scan of csv does not need the Arrow library.
 */
const TASKS = {
  'scan-csv': () => import('../csv/tasks.ts').then((module) => module.scanCsv),
  'clean-csv': () => import('../csv/tasks.ts').then((module) => module.cleanCsv),
  'translate-csv': () => import('../csv/translate.ts').then((module) => module.translateCsv),
  'json-to-csv': () => import('../json/task.ts').then((module) => module.jsonToCsv),
  'xlsx-to-csv': () => import('../xlsx/task.ts').then((module) => module.xlsxToCsv),
  'arrow-to-csv': () => import('../arrow/task.ts').then((module) => module.arrowToCsv),
} as const

export type TaskName = keyof typeof TASKS
type TaskFunction<Name extends TaskName> = Awaited<ReturnType<(typeof TASKS)[Name]>>
export type Task<Name extends TaskName> = { readonly kind: Name } & Parameters<TaskFunction<Name>>[0]
export type TaskResult<Name extends TaskName> = Awaited<ReturnType<TaskFunction<Name>>>

/**
 * Runs a task in this thread, piece by piece, so that other work gets its turn in between.
 * @throws EngineError as the task does; `cancelled`
 */
export async function runHere<Name extends TaskName>(
  task: Task<Name>,
  hooks: Hooks,
): Promise<TaskResult<Name>> {
  try {
    const run = (await TASKS[task.kind]()) as unknown as (
      task: Task<Name>,
      hooks: Hooks,
    ) => Promise<TaskResult<Name>>
    return await run(task, hooks)
  } catch (error) {
    if (hooks.signal?.aborted) throw cancelled(hooks.signal)
    throw error
  }
}
