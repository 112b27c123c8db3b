import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Format } from '../../engine/index.ts'
import { FORMAT_FACTS } from '../../server/transfers/formats.ts'
import { type Cell, judge, type Verdict } from './judge.ts'
import { type Carrier, type Outcome, type Task, type Tool, tasksIn } from './tools.ts'
import { TRIED, type Tried } from './values.ts'

export interface Server {
  readonly address: string
  readonly key: string
}

/**
 * What a file does to the values of a type: `=` nothing; `t` they are there, but as text or another kind; `d` they are
 * right once the column's type is declared; undefined: the tool has no such format; else what is different.
 */
export type Found = '=' | 't' | 'd' | undefined | { readonly problem: string }

export interface Result {
  readonly way: Task['way']
  readonly format: Format
  readonly type: string
  readonly found: Found
}

/** Tries tools against a server: each reads our files and writes such files for us, of each type in each format. */
export class Matrix {
  readonly #server: Server
  readonly #folder: string
  /** Datasets that hold what is tried, and others of the same columns for uploads. */
  readonly #sources = new Map<Tried, number>()
  readonly #declared = new Map<Tried, number>()
  #scratch = 0

  constructor(server: Server, folder: string) {
    this.#server = server
    this.#folder = folder
  }

  async prepare(): Promise<void> {
    const { id: repositoryId } = await this.#json('POST', '/repositories', { name: 'matrix', private: false })
    const make = async (name: string, columns: readonly unknown[]): Promise<number> =>
      (await this.#json('POST', '/datasets', { name, repositoryId, columns })).id as number
    for (const tried of TRIED) {
      const columns = [
        { name: 'n', type: 'integer' },
        { name: 'value', type: tried.type },
      ]
      const source = await make(`source ${tried.name}`, columns)
      const rows = tried.values.map((value, index) => [
        index + 1,
        value !== null && tried.type === 'json' ? JSON.parse(value) : value,
      ])
      await this.#json('PUT', `/datasets/${source}/data`, { rows })
      this.#sources.set(tried, source)
      this.#declared.set(tried, await make(`declared ${tried.name}`, columns))
    }
    this.#scratch = await make('scratch', [])
  }

  /** Everything that a tool does. */
  async run(tool: Tool): Promise<Result[]> {
    const folder = join(this.#folder, tool.name)
    mkdirSync(folder, { recursive: true })
    const tasks = tasksIn(folder)
    for (const { way, format, path, tried } of tasks) {
      if (way === 'download')
        await FETCH.fetch(this.#sourceUrl(tried, format, tool.plain), this.#server.key, path)
    }
    const outcomes = tool.work ? await tool.work(tasks) : await this.#carry(tasks, tool.carrier!)
    const results: Result[] = []
    for (const [index, task] of tasks.entries()) {
      const found = await this.#found(task, outcomes[index]!, tool.carrier ?? FETCH)
      results.push({ way: task.way, format: task.format, type: task.tried.name, found })
    }
    return results
  }

  /** Our files by way of a carrier: what it fetches must be the same bytes, and is what it sends. */
  async #carry(tasks: readonly Task[], carrier: Carrier): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    for (const { way, format, path, tried } of tasks) {
      const ours = path.replace('upload-', 'download-')
      if (way === 'upload') copyFileSync(ours, path)
      else await carrier.fetch(this.#sourceUrl(tried, format), this.#server.key, `${path}.carried`)
      const same = way === 'upload' || readFileSync(ours).equals(readFileSync(`${path}.carried`))
      outcomes.push(same ? {} : { error: 'it has other bytes' })
    }
    return outcomes
  }

  async #found(task: Task, outcome: Outcome, carrier: Carrier): Promise<Found> {
    if ('none' in outcome) return undefined
    if ('error' in outcome) return { problem: outcome.error }
    const { tried } = task
    if ('cells' in outcome) return letter(judge(tried.type, tried.values, outcome.cells), '=', 't')
    if (task.way === 'download') return '='
    const inferred = await this.#upload(task, this.#scratch, carrier)
    if (inferred === 'same') return '='
    return letter(await this.#upload(task, this.#declared.get(tried)!, carrier), 'd', 'd')
  }

  /** How far the rows that a file makes are the values that it was made of. */
  async #upload({ path, format, tried }: Task, id: number, carrier: Carrier): Promise<Verdict> {
    const { address, key } = this.#server
    const options = id === this.#scratch ? '?columns=replace' : ''
    const type = FORMAT_FACTS[format].contentType
    const url = `${address}/datasets/${id}/data${options}`
    const written = JSON.parse(await carrier.send(url, key, path, type.replace(/;.*/, '')))
    if (written.error) return { expected: null, got: `refused: ${written.error ?? JSON.stringify(written)}` }
    const column = written.columns[1]
    if (written.columns.length !== 2) return { expected: '2 columns', got: `${written.columns.length}` }
    const rows = await (await this.#call('GET', `/datasets/${id}/data?$format=ndjson`)).text()
    const kind = KIND_OF[column.type.replace(/\(.*/, '')]!
    const cells = rows
      .trim()
      .split('\n')
      .map((line): Cell => {
        // Numbers keep their digits.
        const { value } = JSON.parse(line, (_, inner, context?: { source?: string }) =>
          typeof inner === 'number' && context?.source !== undefined ? context.source : inner,
        )
        if (value === null) return ['null', null]
        return [kind, kind === 'object' ? /"value":(.*)\}$/.exec(line)![1]! : String(value)]
      })
    return judge(tried.type, tried.values, cells)
  }

  #sourceUrl(tried: Tried, format: Format, plain = false): string {
    const encoding = plain && format.startsWith('arrow') ? '&$encoding=plain' : ''
    return `${this.#server.address}/datasets/${this.#sources.get(tried)}/data?$format=${format}${encoding}`
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of a service whose shapes its own tests hold
  async #json(method: string, path: string, body: unknown): Promise<any> {
    return (await this.#call(method, path, body)).json()
  }

  async #call(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await fetch(this.#server.address + path, {
      method,
      headers: {
        'x-api-key': this.#server.key,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (response.ok) return response
    throw new Error(`${method} ${path}: ${await response.text()}`)
  }
}

/** What our types are called where tools' values are. */
const KIND_OF: Readonly<Record<string, string>> = {
  boolean: 'bool',
  integer: 'int',
  double: 'float',
  decimal: 'decimal',
  string: 'str',
  date: 'date',
  time: 'time',
  timestamp: 'datetime',
  timestamptz: 'datetimetz',
  uuid: 'uuid',
  binary: 'bytes',
  json: 'object',
}

const FETCH: Carrier = {
  async fetch(url, key, path) {
    const response = await fetch(url, { headers: { 'x-api-key': key } })
    if (!response.ok) throw new Error(await response.text())
    writeFileSync(path, await response.bytes())
  },
  async send(url, key, path, type) {
    const headers = { 'x-api-key': key, 'content-type': type }
    return (await fetch(url, { method: 'PUT', headers, body: readFileSync(path) })).text()
  },
}

function letter(verdict: Verdict, same: '=' | 'd', text: 't' | 'd'): Found {
  if (verdict === 'same') return same
  if (verdict === 'text') return text
  return { problem: verdict.expected === null ? verdict.got : `${verdict.expected} became ${verdict.got}` }
}
