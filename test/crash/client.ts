import { ReadableStream } from 'node:stream/web'
import { setTimeout as sleep } from 'node:timers/promises'
import { ERROR_TABLE } from '../../server/http/errors.ts'
import { basic } from '../server/platform.ts'
import type { Outcome } from './register.ts'

export interface Answer {
  readonly outcome: Outcome
  /** 0 where there was no answer. */
  readonly status: number
  readonly body: string
}

/** Asks a server that may die at any moment. */
export async function ask(
  url: string,
  key: string,
  method: string,
  path: string,
  body?: object | string,
): Promise<Answer> {
  const type = typeof body === 'string' ? 'text/csv' : 'application/json'
  try {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: basic(key), ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return answered(answer.ok, answer.status, await answer.text())
  } catch {
    return BROKEN_OFF
  }
}

/** It broke off, or nobody was there: the client can't tell which. */
const BROKEN_OFF: Answer = { outcome: 'unknown', status: 0, body: '' }

function answered(ok: boolean, status: number, body: string): Answer {
  const outcome = ok ? 'done' : body.includes('"outcome_unknown"') ? 'unknown' : 'refused'
  return { outcome, status, body }
}

/**
 * Sends pieces of ndjson to a server that may die at any moment. Gives a line of the answer as it comes; after one that
 * isn't `done`, none comes.
 */
export async function* askWhileSending(
  url: string,
  key: string,
  path: string,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Answer> {
  try {
    const init = {
      method: 'POST',
      headers: { authorization: basic(key), 'content-type': 'application/x-ndjson' },
      body: ReadableStream.from(pieces) as globalThis.ReadableStream,
      duplex: 'half',
    }
    const answer = await fetch(url + path, init)
    if (!answer.ok) return yield answered(false, answer.status, await answer.text())
    let rest = ''
    for await (const text of answer.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const { code } = JSON.parse(line) as { code?: string }
        const status = code === undefined ? answer.status : (ERROR_TABLE.get(code)?.status ?? 500)
        yield answered(code === undefined, status, line)
      }
    }
  } catch (error) {
    // A line that isn't JSON isn't the connection's doing.
    if (error instanceof SyntaxError) throw error
    yield BROKEN_OFF
  }
}

/** How often a server may say that it is busy, as it does on a busy machine. */
const MOST_ATTEMPTS = 30

/** The answer of a server that is there, but may be busy at first. */
export async function patiently(...request: Parameters<typeof ask>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask(...request)
    if (answer.status !== 503 || attempt === MOST_ATTEMPTS) return answer
    await sleep(1_000)
  }
}

/** The answer as text of a server that is there. @throws where it says no */
export async function read(url: string, key: string, path: string): Promise<string> {
  const { status, body } = await patiently(url, key, 'GET', path)
  if (status !== 200) throw new Error(`GET ${path}: status ${status} ${body}`)
  return body
}

/** The same as JSON. */
export async function get<T>(url: string, key: string, path: string): Promise<T> {
  return JSON.parse(await read(url, key, path)) as T
}
