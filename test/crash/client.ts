import { setTimeout as sleep } from 'node:timers/promises'
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
    const text = await answer.text()
    const outcome = answer.ok ? 'done' : text.includes('"outcome_unknown"') ? 'unknown' : 'refused'
    return { outcome, status: answer.status, body: text }
  } catch {
    // It broke off, or nobody was there: the client can't tell which.
    return { outcome: 'unknown', status: 0, body: '' }
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
