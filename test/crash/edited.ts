import { type Answer, get, read } from './client.ts'

/** Values by their key. */
export type Rows = ReadonlyMap<number, number>

/** A change of rows by their keys from `from` to before `to`, or to what a version held. */
export interface Change {
  readonly kind: 'upsert' | 'remove' | 'edit' | 'restore' | 'replace'
  readonly from: number
  readonly to: number
  readonly value: number
  readonly version: number
}

export function after(rows: Rows, change: Change, past: ReadonlyMap<number, Rows>): Rows {
  const { kind, from, to, value, version } = change
  if (kind === 'restore') return past.get(version)!
  const next = new Map(kind === 'replace' ? [] : rows)
  for (let key = from; key < to; key++) {
    if (kind === 'remove') next.delete(key)
    else if (kind !== 'edit' || next.has(key)) next.set(key, value)
  }
  return next
}

export const sorted = (rows: Rows): [number, number][] => [...rows].sort(([a], [b]) => a - b)

const KINDS = ['upsert', 'upsert', 'remove', 'edit', 'restore', 'replace', 'copy'] as const

/** Sends a request with the key of the account. */
type Send = (method: string, path: string, body?: object | string) => Promise<Answer>

/** A dataset with the key k that one account alone changes in every way, and the copies that it makes of it. */
export class Edited {
  readonly id: number
  readonly #repositoryId: number
  /** All versions that are known to have been made; a change of no row makes none. */
  readonly #known = new Map<number, Rows>([[0, new Map()]])
  #newest = 0
  /** A change of which nobody was told. */
  #lost: Change | undefined
  /** The rows of copies by their names, and whether they were acknowledged. */
  readonly #copies = new Map<string, { readonly rows: Rows; readonly acknowledged: boolean }>()

  constructor(id: number, repositoryId: number) {
    this.id = id
    this.#repositoryId = repositoryId
  }

  /** The fields with which the dataset is made. */
  static fields(repositoryId: number, name: string): object {
    const columns = ['k', 'v'].map((column) => ({ name: column, type: 'integer' }))
    return { name, repositoryId, columns, key: ['k'] }
  }

  async change(send: Send, random: () => number): Promise<Answer> {
    const below = (bound: number) => Math.floor(random() * bound)
    const kind = KINDS[below(KINDS.length)]!
    const path = `/datasets/${this.id}`
    if (kind === 'copy') {
      const name = `copy ${this.#copies.size} of ${this.#newest}`
      const answer = await send('POST', `${path}/copy`, { repositoryId: this.#repositoryId, name })
      const { outcome } = answer
      const rows = this.#known.get(this.#newest)!
      if (outcome !== 'refused') this.#copies.set(name, { rows, acknowledged: outcome === 'done' })
      return answer
    }
    const from = below(400)
    const change: Change = {
      kind,
      from,
      to: from + 1 + below(60),
      value: below(1_000_000),
      version: Math.max(0, this.#newest - below(5)),
    }
    const answer = await this.#send(send, path, change)
    if (answer.outcome === 'unknown') this.#lost = change
    if (answer.outcome === 'done') {
      const { version } = JSON.parse(answer.body) as { version: number }
      this.#known.set(version, after(this.#known.get(this.#newest)!, change, this.#known))
      this.#newest = version
    }
    return answer
  }

  #send(send: Send, path: string, { kind, from, to, value, version }: Change): Promise<Answer> {
    const lines = Array.from({ length: to - from }, (_, n) => `${from + n},${value}\n`)
    const csv = `k,v\n${lines.join('')}`
    const matching = `${path}/data?$filter=k ge ${from} and k lt ${to}`
    switch (kind) {
      case 'upsert':
        return send('POST', `${path}/data?mode=upsert`, csv)
      case 'replace':
        return send('PUT', `${path}/data`, csv)
      case 'remove':
        return send('DELETE', matching)
      case 'edit':
        return send('PATCH', matching, { v: value })
      case 'restore':
        return send('POST', `${path}/restore`, { version })
      default:
        return kind satisfies never
    }
  }

  /**
   * Reads every version that is kept, and all copies, which are removed then. Gives how many rows it read, and what is
   * wrong, in sentences.
   */
  async check(url: string, key: string, send: Send): Promise<{ asked: number; wrong: readonly string[] }> {
    const wrong: string[] = []
    let asked = 0
    const compare = async (what: string, path: string, rows: Rows) => {
      const found = rowsOf(await read(url, key, path))
      asked += found.length
      if (JSON.stringify(found) === JSON.stringify(sorted(rows))) return
      wrong.push(`${what} shows ${JSON.stringify(found)} instead of ${JSON.stringify(sorted(rows))}`)
    }
    const kept = () => get<{ number: number }[]>(url, key, `/datasets/${this.id}/versions`)
    const versions = await kept()
    const { number } = versions[0]!
    if (number === this.#newest + 1 && this.#lost) {
      this.#known.set(number, after(this.#known.get(this.#newest)!, this.#lost, this.#known))
    } else if (number !== this.#newest) {
      wrong.push(`dataset ${this.id} is at version ${number} instead of ${this.#newest}`)
      return { asked, wrong }
    }
    this.#newest = number
    this.#lost = undefined
    for (const one of versions) {
      const path = `/datasets/${this.id}/data?$version=${one.number}`
      const comparing = compare(
        `version ${one.number} of dataset ${this.id}`,
        path,
        this.#known.get(one.number)!,
      )
      await comparing.catch(async (error: unknown) => {
        // Fewer are kept the older they are.
        if ((await kept()).some((now) => now.number === one.number)) throw error
      })
    }
    type Listed = { id: number; name: string; repositoryId: number }
    const all = await get<Listed[]>(url, key, '/datasets')
    for (const [name, { rows, acknowledged }] of this.#copies) {
      const copy = all.find((one) => one.name === name && one.repositoryId === this.#repositoryId)
      if (copy) {
        await compare(`${name}, dataset ${copy.id}`, `/datasets/${copy.id}/data`, rows)
        await send('DELETE', `/datasets/${copy.id}`)
      } else if (acknowledged) wrong.push(`${name} is gone`)
    }
    this.#copies.clear()
    return { asked, wrong }
  }
}

function rowsOf(csv: string): [number, number][] {
  const rows = csv.split('\n').slice(1, -1)
  return rows.map((line) => line.split(',').map(Number) as [number, number]).sort(([a], [b]) => a - b)
}
