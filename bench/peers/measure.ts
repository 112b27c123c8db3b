import { spawn } from 'node:child_process'
import { median } from '../case.ts'
import { type Ask, ask, type Burst } from './ask.ts'
import { download } from './download.ts'
import { processorTime } from './meter.ts'
import type { Question } from './questions.ts'
import type { Server } from './server.ts'

/** One line of the table: the figure of each server for which it was measured, by the server's name. */
export interface Figure {
  readonly question: string
  readonly measure: string
  readonly values: Readonly<Record<string, number>>
}

export interface Effort {
  readonly rounds: number
  /** The fraction of each question's batch that is asked. */
  readonly share: number
  /** Length of each burst over fifty connections. */
  readonly seconds: number
}

const CONNECTIONS = 50
/** More values than any server answers in a burst, so that no value is asked for twice. */
const DISTINCT = 20_000

/** A single question is asked in so many times the rounds of a batch, because one answer varies more than forty. */
const ROUNDS_OF_ONE = 3

/** A server that takes longer over a batch is not asked the rest of it, so that a slow one doesn't take all the time. */
const MOST_BATCH_MS = 2_000

/** Counts the values used so far. None is used again, so that a cached answer helps only with a repeated question. */
let used = 0

/**
 * Asks all servers a question in turns, starting with another server in each round, and returns the medians of the
 * rounds: per question, the CPU milliseconds of the server and the milliseconds for the client; for questions with
 * `burst`, also the answers per second over fifty connections.
 */
export async function measure(
  question: Question,
  servers: readonly Server[],
  effort: Effort,
): Promise<Figure[]> {
  const able = servers.filter(({ dialect }) => question.asks[dialect])
  for (const server of able) await check(question, server)
  const samples = new Map<string, Map<string, number[]>>()
  const note = (measure: string, server: Server, value: number) => {
    const values = samples.get(measure) ?? new Map<string, number[]>()
    samples.set(measure, values.set(server.name, [...(values.get(server.name) ?? []), value]))
  }
  const batch = Math.max(1, Math.round(question.batch * effort.share))
  const single = question.batch === 1
  const rounds = single ? effort.rounds * ROUNDS_OF_ONE : effort.rounds
  for (let round = 0; round < rounds; round++) {
    for (const server of turned(able, round)) {
      const asks = Array.from({ length: batch }, (_, n) =>
        question.asks[server.dialect]!(used + n, server.name),
      )
      const before = processorTime(server.pid)
      const times: number[] = []
      const firsts: number[] = []
      const end = performance.now() + MOST_BATCH_MS
      for (const parts of asks) {
        if (performance.now() > end) break
        let last = 0
        for (const [index, part] of parts.entries()) {
          const answer = single ? await downloaded(server, part) : await answered(server, part)
          if (index === 0) firsts.push(answer.first)
          last += answer.last
        }
        times.push(last)
      }
      note('CPU ms', server, (processorTime(server.pid) - before) / times.length)
      note('ms', server, median(times))
      if (single) note('ms to the first byte', server, median(firsts))
    }
    used += batch
    if (!question.burst) continue
    for (const server of turned(able, round)) {
      // A question may take several requests; all of them together count as one answer.
      const parts = question.asks[server.dialect]!(0, server.name).length
      const asks = Array.from({ length: DISTINCT }, (_, n) =>
        question.asks[server.dialect]!(used + n, server.name),
      ).flat()
      const before = processorTime(server.pid)
      const { answers, refused } = await burst({
        port: server.port,
        asks,
        connections: CONNECTIONS,
        seconds: effort.seconds,
      })
      note('answers/s at 50', server, answers / parts / effort.seconds)
      if (refused > 0) note('refused at 50', server, refused)
      note('CPU ms at 50', server, ((processorTime(server.pid) - before) * parts) / answers)
    }
    used += DISTINCT
  }
  return [...samples].map(([name, values]) => ({
    question: question.name,
    measure: name,
    values: Object.fromEntries([...values].map(([server, list]) => [server, median(list)])),
  }))
}

/**
 * Throws if a server answers with something else than expected, because its figure would be that of another question.
 */
async function check({ name, rows, asks }: Question, server: Server): Promise<void> {
  const [first] = asks[server.dialect]!(used, server.name)
  const { text } = await answered(server, first!, rows !== undefined)
  if (rows === undefined) return
  const body = JSON.parse(text) as unknown[] | { data: unknown[] }
  const found = (Array.isArray(body) ? body : body.data).length
  if (found !== rows)
    throw new Error(`${server.name} answers "${name}" with ${found} rows; ${rows} are right`)
}

async function answered(server: Server, part: Ask, keep = false) {
  const answer = await ask(server.port, part, keep)
  if (answer.status === 200 || answer.status === 304) return answer
  throw new Error(`${server.name}: ${part.path} ${part.body ?? ''}: status ${answer.status} ${answer.text}`)
}

async function downloaded(server: Server, part: Ask) {
  const answer = await download(server.port, part)
  if (answer.status === 200) return answer
  throw new Error(`${server.name}: ${part.path}: status ${answer.status}`)
}

function turned<T>(list: readonly T[], by: number): T[] {
  const cut = by % list.length
  return [...list.slice(cut), ...list.slice(0, cut)]
}

async function burst(what: Burst): Promise<{ answers: number; refused: number }> {
  const child = spawn(process.execPath, [new URL('./ask.ts', import.meta.url).pathname], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // If the process ends early, writing to it fails; its standard error tells why, so this error is ignored.
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(what))
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  if (text === '') throw new Error('The program that asks at fifty connections ended without an answer.')
  return JSON.parse(text) as { answers: number; refused: number }
}
