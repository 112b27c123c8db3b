import type { ChildProcess } from 'node:child_process'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Ask, ask } from './ask.ts'

/** The query language of a server; each question is written in all of them. */
export type Dialect = 'ours' | 'datapress' | 'roapi' | 'quack'

/** A running server that has the tables, in a process of its own. */
export interface Server extends AsyncDisposable {
  readonly name: string
  readonly dialect: Dialect
  readonly port: number
  readonly pid: number
}

export interface Tables {
  /** Paths of Parquet files. */
  readonly lineitem: string
  readonly tiny: string
}

/** Asks until a server answers 200; returns the milliseconds. While servers load they answer 503 or not at all. */
export async function firstAnswer(server: Server, question: Ask, patience = 120_000): Promise<number> {
  const start = performance.now()
  let last = 'no answer'
  while (performance.now() - start < patience) {
    try {
      const { status, text } = await ask(server.port, question, true)
      if (status === 200) return performance.now() - start
      last = `${status} ${text.slice(0, 200)}`
    } catch (error) {
      last = (error as Error).message
    }
    await sleep(5)
  }
  throw new Error(`${server.name} didn't answer ${question.path}: ${last}`)
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Returns the id of a process that has just been started. That process is killed when this one exits. */
export function started(child: ChildProcess): Promise<number> {
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid!))
    child.once('error', reject)
  })
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  // A peer that first finishes its requests may take half a minute to end; by now they are no longer needed.
  const late = setTimeout(() => child.kill('SIGKILL'), 2_000)
  await exit
  clearTimeout(late)
}
