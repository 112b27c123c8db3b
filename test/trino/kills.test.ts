import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { TrinoService } from './service.ts'
import { TRINO_PROGRAM } from './trino-server.ts'

const ROWS = 600_000
/** Asks for the last rows that a pattern finds, which takes Trino a second or more. */
const OPTIONS = {
  filter: "matchesPattern(word,'w.*(1|2|3)+.*7.*9$') and n mod 3 ne 1",
  orderBy: 'word desc,n',
  top: 50,
}

describe.runIf(TRINO_PROGRAM)('whatever is killed while Trino works', { timeout: 300_000 }, () => {
  let service: TrinoService
  afterEach(() => service?.[Symbol.asyncDispose]())

  async function start(options: Parameters<typeof TrinoService.start>[0]): Promise<number> {
    service = await TrinoService.start(options)
    const lines = Array.from({ length: ROWS }, (_, n) => `${n},w${(n * 7_919) % 1_000_003}`)
    const columns = [
      { name: 'n', type: 'integer' },
      { name: 'word', type: 'string' },
    ]
    return service.table(columns, lines.slice(0, ROWS / 2), lines.slice(ROWS / 2))
  }

  /** Asks over HTTP, and kills a process as soon as Trino works on the question. */
  async function askAndKill(id: number, number: number) {
    const { at } = service
    const query = new URLSearchParams({
      $filter: OPTIONS.filter,
      $orderby: OPTIONS.orderBy,
      $top: String(OPTIONS.top),
      $format: 'csv',
    })
    const asking = at.call(at.root, 'GET', `/datasets/${id}/data?${query}`)
    while ((await service.figures()).running === 0) await wait(5)
    await wait(100)
    await service.trino.kill(number)
    return asking
  }

  test('without its coordinator the answer is whole, from DuckDB', async () => {
    const id = await start({})
    const answer = await askAndKill(id, 0)
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.body).toBe(await service.askAlone(id, OPTIONS))
    expect((await service.figures()).repeated).toBeGreaterThan(0)
  })

  test('without its only worker the answer is whole, or an error in time', async () => {
    const id = await start({ workers: 1, firstByte: 10_000 })
    const answer = await askAndKill(id, 1)
    if (answer.statusCode === 200) expect(answer.body).toBe(await service.askAlone(id, OPTIONS))
    else expect([503, 504]).toContain(answer.statusCode)
    expect(answer.body).not.toMatch(/trino/i)
  })
})
