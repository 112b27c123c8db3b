import { setTimeout as sleep } from 'node:timers/promises'
import { type Blocks, contradiction, type Write } from '../simulation/history.ts'
import { type Answer, ask, askWhileSending, get, read } from './client.ts'
import type { Edited } from './edited.ts'
import { Register } from './register.ts'

/** Rows of one dataset and what was written to it since it was last looked at, by whomever. */
export interface Table {
  readonly id: number
  before: Blocks
  writes: Write[]
}

/** Ops are numbered over all writers, so that each block tells whose it is. */
let ops = 0

/**
 * One account that writes over HTTP: rows to a dataset of its own and to one that all share, one request at a time,
 * several, or as a stream; rows by their keys, names of a repository and a dataset, a manifest, a member's permission, a
 * saved provider key, its own API key; and it downloads rows, which count against its plan.
 */
export class Writer {
  readonly account: string
  readonly repositoryId: number
  readonly own: Table
  readonly shared: Table
  readonly edited: Edited
  readonly key: Register<string>
  readonly repositoryName: Register<string>
  readonly datasetName: Register<string>
  readonly description: Register<string>
  readonly member: Register<string | undefined>
  readonly providerKey: Register<string | undefined>
  readonly friend: string
  readonly #countedLate: boolean
  /** Rows that were asked for, so that no more are counted against its plan. */
  asked = 0
  /** Acknowledged changes of any kind. */
  acknowledged = 0
  readonly broken: string[] = []

  constructor(fields: {
    account: string
    key: string
    repositoryId: number
    own: Table
    shared: Table
    edited: Edited
    friend: string
    /** Whether rows may be counted after the check: the other nodes write down what they have sent within a second. */
    countedLate?: boolean
  }) {
    this.account = fields.account
    this.repositoryId = fields.repositoryId
    this.own = fields.own
    this.shared = fields.shared
    this.edited = fields.edited
    this.friend = fields.friend
    this.#countedLate = fields.countedLate ?? false
    const named = (what: string) => `${what} of ${fields.account}`
    this.key = new Register(named('key'), fields.key)
    this.repositoryName = new Register(named('repository name'), fields.account)
    this.datasetName = new Register(named('dataset name'), 'own')
    this.description = new Register(named('description of a column'), '')
    this.member = new Register<string | undefined>(named('permission of a member'), undefined)
    this.providerKey = new Register<string | undefined>(named('hint of the provider key'), undefined)
  }

  /** Does things in turn until an answer doesn't come, or until it is told to stop. */
  async work(url: string, random: () => number, stop?: AbortSignal): Promise<void> {
    const works = [
      () => this.#write(url, this.own, random),
      () => this.#write(url, this.own, random),
      () => this.#write(url, this.shared, random),
      // These are committed together.
      async () => {
        const writing = Array.from({ length: 4 }, () =>
          this.#write(url, this.shared, random, random() < 0.7 ? 'append' : 'upsert'),
        )
        return (await Promise.all(writing)).every((going) => going)
      },
      () => this.#stream(url, random() < 0.5 ? this.own : this.shared, random),
      () => this.#edit(url, random),
      () => this.#edit(url, random),
      () => this.#edit(url, random),
      () => this.#read(url, random() < 0.5 ? this.own : this.shared),
      () =>
        this.#set(
          url,
          this.repositoryName,
          `r${++ops} ${this.account}`,
          'PUT',
          `/repositories/${this.repositoryId}`,
          (name) => ({ name }),
        ),
      () =>
        this.#set(url, this.datasetName, `d${++ops}`, 'PUT', `/datasets/${this.own.id}`, (name) => ({
          name,
        })),
      () => this.#set(url, this.description, `c${++ops}`, 'PUT', `/datasets/${this.own.id}/columns`, columns),
      () => this.#setMember(url, random),
      () => this.#setProviderKey(url, random),
      () => this.#rotate(url),
    ]
    while (!stop?.aborted) {
      const going = await works[Math.floor(random() * works.length)]!()
      if (!going) return
    }
  }

  async #write(
    url: string,
    table: Table,
    random: () => number,
    kind: 'replace' | 'append' | 'upsert' = random() < 0.2 ? 'replace' : 'append',
  ): Promise<boolean> {
    const known = kind === 'upsert' ? knownBlocks(table) : []
    const [of, rows] = known[Math.floor(random() * known.length)] ?? [undefined, pick(ROWS, random)]
    // It may be read by another writer before it is answered.
    const write = begin(table, { kind, rows, ...(of !== undefined && { of }) })
    const method = kind === 'replace' ? 'PUT' : 'POST'
    const path = `/datasets/${table.id}/data${kind === 'upsert' ? '?mode=upsert&on=key,n' : ''}`
    const text = `op,n,key\n${linesOf(write, (n) => `${write.op},${n},${of ?? write.op}`)}`
    const answer = await ask(url, this.key.value, method, path, text)
    this.#ended(table, [write], answer)
    return answer.outcome !== 'unknown'
  }

  /** Rows that are committed, and answered, while more are sent. */
  async #stream(url: string, table: Table, random: () => number): Promise<boolean> {
    const rows = pick(ROWS, random)
    const stretches = 1 + Math.floor(random() * 6)
    const sent: Write[] = []
    async function* pieces() {
      for (let stretch = 0; stretch < stretches; stretch++) {
        const after = sent.at(-1)?.op
        const write = begin(table, { kind: 'append', rows, ...(after !== undefined && { after }) })
        sent.push(write)
        yield Buffer.from(linesOf(write, (n) => `{"op":${write.op},"n":${n},"key":${write.op}}`))
        // Some come while the ones before are being committed, some after.
        await sleep(random() * LONGEST_PAUSE_MS)
      }
    }
    const path = `/datasets/${table.id}/data?commit=${rows}`
    for await (const answer of askWhileSending(url, this.key.value, path, pieces())) {
      if (answer.outcome === 'unknown') return false
      this.#ended(table, answer.outcome === 'done' ? [sent.shift()!] : sent, answer)
      if (answer.outcome === 'refused') return true
      if (JSON.parse(answer.body).rows !== rows) this.broken.push(`a commit of ${rows} rows: ${answer.body}`)
    }
    if (sent.length > 0) this.broken.push(`a stream ended without a word of ${sent.length} commits`)
    return true
  }

  /** Notes what became of writes of which it was told. */
  #ended(table: Table, writes: readonly Write[], answer: Answer): void {
    const acknowledged = this.#acknowledge(answer)
    for (const write of writes) {
      const at = table.writes.indexOf(write)
      if (answer.outcome === 'refused') table.writes.splice(at, 1)
      else if (acknowledged) table.writes[at] = { ...write, ended: performance.now(), acknowledged }
    }
  }

  async #edit(url: string, random: () => number): Promise<boolean> {
    const answer = await this.edited.change(this.#sending(url), random)
    this.#acknowledge(answer)
    return answer.outcome !== 'unknown'
  }

  #sending(url: string) {
    return (method: string, path: string, body?: object | string) =>
      ask(url, this.key.value, method, path, body)
  }

  async #read(url: string, table: Table): Promise<boolean> {
    const sent = performance.now()
    const { status, body, outcome } = await ask(url, this.key.value, 'GET', `/datasets/${table.id}/data`)
    const came = performance.now()
    if (outcome === 'refused' && status !== 503) this.broken.push(`a read: ${status} ${body}`)
    if (outcome !== 'done') {
      // Up to all rows may have been counted though the answer broke off.
      if (outcome === 'unknown') this.asked = Number.POSITIVE_INFINITY
      return outcome !== 'unknown'
    }
    const shown = blocksOf(body)
    this.#count(shown)
    const reason = contradiction(table.before, table.writes, shown, [sent, came])
    if (reason) this.broken.push(`a read of dataset ${table.id} shows ${JSON.stringify(shown)}: ${reason}`)
    return true
  }

  async #set(
    url: string,
    register: Register<string>,
    value: string,
    method: string,
    path: string,
    body: (value: string) => object,
  ): Promise<boolean> {
    const answer = await ask(url, this.key.value, method, path, body(value))
    this.#acknowledge(answer)
    register.set(value, answer.outcome)
    return answer.outcome !== 'unknown'
  }

  async #setMember(url: string, random: () => number): Promise<boolean> {
    const path = `/repositories/${this.repositoryId}/members/${this.friend}`
    const permission = random() < 0.5 ? 'Read' : 'Write'
    const remove = this.member.value !== undefined && random() < 0.5
    const answer = remove
      ? await ask(url, this.key.value, 'DELETE', path)
      : await ask(url, this.key.value, 'PUT', path, { permission })
    this.#acknowledge(answer)
    this.member.set(remove ? undefined : permission, answer.outcome)
    return answer.outcome !== 'unknown'
  }

  async #setProviderKey(url: string, random: () => number): Promise<boolean> {
    const remove = this.providerKey.value !== undefined && random() < 0.3
    const key = `provider-key-${String(++ops).padStart(8, '0')}`
    const answer = remove
      ? await ask(url, this.key.value, 'DELETE', '/user-keys/fred')
      : await ask(url, this.key.value, 'PUT', '/user-keys/fred', { key })
    this.#acknowledge(answer)
    this.providerKey.set(remove ? undefined : key.slice(-4), answer.outcome)
    return answer.outcome !== 'unknown'
  }

  async #rotate(url: string): Promise<boolean> {
    const old = this.key.value
    const answer = await ask(url, old, 'POST', '/account/api-key')
    if (this.#acknowledge(answer)) {
      this.key.set((JSON.parse(answer.body) as { apiKey: string }).apiKey, 'done')
      const { status } = await ask(url, old, 'GET', '/account')
      if (![0, 401, 429, 503].includes(status))
        this.broken.push(`an old key of ${this.account} is answered ${status}`)
    } else this.key.set(LOST_KEY, answer.outcome)
    return answer.outcome !== 'unknown'
  }

  /**
   * Looks at all that it wrote, after a kill or a clean stop. `renew` gives it a key where the answer with the last was lost.
   */
  async check(url: string, clean: boolean, renew: (account: string) => Promise<string>): Promise<void> {
    const works = (await ask(url, this.key.possible[0]!, 'GET', '/account')).status === 200
    this.#settle(this.key, works ? this.key.possible[0]! : LOST_KEY)
    if (!works) this.key.set(await renew(this.account), 'done')
    const key = this.key.value

    this.#settle(
      this.repositoryName,
      (await get<{ name: string }>(url, key, `/repositories/${this.repositoryId}`)).name,
    )
    const dataset = await get<{ name: string; columns: { description: string }[] }>(
      url,
      key,
      `/datasets/${this.own.id}`,
    )
    this.#settle(this.datasetName, dataset.name)
    this.#settle(this.description, dataset.columns[0]!.description)
    type Member = { account: string; permission: string }
    const members = await get<Member[]>(url, key, `/repositories/${this.repositoryId}/members`)
    this.#settle(this.member, members.find(({ account }) => account === this.friend)?.permission)
    const keys = await get<{ provider: string; keyHint: string }[]>(url, key, '/user-keys')
    this.#settle(this.providerKey, keys.find(({ provider }) => provider === 'fred')?.keyHint.slice(-4))
    await this.#checkUsage(url, key, clean)
    await this.checkTable(url, this.own)
    const { asked, wrong } = await this.edited.check(url, key, this.#sending(url))
    this.asked += asked
    this.broken.push(...wrong)
  }

  /** @throws where the rows can't be had at all */
  async checkTable(url: string, table: Table): Promise<void> {
    const shown = blocksOf(await read(url, this.key.value, `/datasets/${table.id}/data`))
    this.#count(shown)
    const end = Number.POSITIVE_INFINITY
    const reason = contradiction(table.before, table.writes, shown, [end, end])
    if (reason)
      this.broken.push(`after a restart dataset ${table.id} shows ${JSON.stringify(shown)}: ${reason}`)
    table.before = shown
    table.writes = []
  }

  /** Rows downloaded in the last second before a kill may be missing; none may be counted that weren't asked for. */
  async #checkUsage(url: string, key: string, clean: boolean): Promise<void> {
    const { usage } = await get<{ usage: { exportedRows: number } }>(url, key, '/account')
    const known = clean && !this.#countedLate && this.asked < Number.POSITIVE_INFINITY
    if (usage.exportedRows > this.asked || (known && usage.exportedRows !== this.asked)) {
      this.broken.push(`${this.account} has ${usage.exportedRows} rows counted and asked for ${this.asked}`)
    }
    if (!this.#countedLate) this.asked = usage.exportedRows
  }

  #count(shown: Blocks): void {
    this.asked += shown.reduce((sum, [, rows]) => sum + rows, 0)
  }

  #settle<T>(register: Register<T>, found: T): void {
    const reason = register.settle(found)
    if (reason) this.broken.push(reason)
  }

  /** Refusals are fine where the server says that it is busy or ending; errors of its own never are. */
  #acknowledge({ outcome, status, body }: { outcome: string; status: number; body: string }): boolean {
    if (outcome === 'refused' && status !== 503)
      this.broken.push(`${this.account} was answered ${status} ${body}`)
    if (outcome === 'done') this.acknowledged += 1
    return outcome === 'done'
  }
}

const LOST_KEY = 'a key whose answer was lost'

/** Those of the datasets whose rows are written: the op that wrote a row, its place there, the op whose keys it has. */
export const COLUMNS = ['op', 'n', 'key'].map((name) => ({ name, type: 'integer' }))

function columns(description: string): object {
  return { columns: COLUMNS.map((column) => (column.name === 'op' ? { ...column, description } : column)) }
}

const ROWS = [1, 10, 300] as const
/** Between the pieces of a stream. */
const LONGEST_PAUSE_MS = 20

function pick<T>(from: readonly T[], random: () => number): T {
  return from[Math.floor(random() * from.length)]!
}

function begin(table: Table, fields: Pick<Write, 'kind' | 'rows' | 'of' | 'after'>): Write {
  const begun = performance.now()
  const write = { ...fields, op: ++ops, begun, ended: Number.POSITIVE_INFINITY, acknowledged: false }
  table.writes.push(write)
  return write
}

function linesOf({ rows }: Write, line: (n: number) => string): string {
  return Array.from({ length: rows }, (_, n) => `${line(n)}\n`).join('')
}

/** Keys of rows that are there, unless they were replaced meanwhile, and how many rows have them. */
function knownBlocks({ before, writes }: Table): [of: number, rows: number][] {
  const appended = writes.filter(({ kind, acknowledged }) => kind === 'append' && acknowledged)
  return [
    ...before.map(([op, rows, key]): [number, number] => [key ?? op, rows]),
    ...appended.map(({ op, rows }): [number, number] => [op, rows]),
  ]
}

/** The blocks that a csv of `op,n,key` holds. @throws where a block's rows aren't in order from 0 */
export function blocksOf(csv: string): Blocks {
  const blocks: [op: number, rows: number, key?: number][] = []
  for (const line of csv.split('\n').slice(1, -1)) {
    const [op, n, key] = line.split(',').map(Number) as [number, number, number]
    let last = blocks.at(-1)
    if (last?.[0] !== op) blocks.push((last = key === op ? [op, 0] : [op, 0, key]))
    if (last[1] !== n) throw new Error(`row ${n} of op ${op} lies where row ${last[1]} belongs`)
    last[1] += 1
  }
  return blocks
}
