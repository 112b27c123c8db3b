import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EngineError } from '../../engine/errors.ts'
import { runtimeFilterError } from '../../engine/filter/index.ts'
import { GOODS, GOODS_ROWS, NAMES, NAMES_ROWS } from './support/goods.ts'
import { Table } from './support/table.ts'

/** Every file here is a list of filters and what they must do; adding a line adds a test. */
const folder = new URL('cases/', import.meta.url)

interface Case {
  readonly filter: string
  readonly rows?: readonly number[] | 'all' | 'none'
  readonly error?: string
}

function casesOf(file: string): Case[] {
  const lines = readFileSync(new URL(file, folder), 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Case)
}

const NOW = new Date('2024-03-01T12:00:00Z')

for (const file of readdirSync(folder)) {
  describe(file, () => {
    let table: Table
    beforeAll(async () => {
      table =
        file === 'names.jsonl' ? await Table.create(NAMES, NAMES_ROWS) : await Table.create(GOODS, GOODS_ROWS)
    })
    afterAll(() => table[Symbol.asyncDispose]())

    test.each(casesOf(file).map((item) => [item.filter, item] as const))('%s', async (filter, {
      rows,
      error,
    }) => {
      const outcome = await table.rows(filter, { now: () => NOW }).catch(codeOf)
      const all = GOODS_ROWS.map((_, index) => index)
      expect(outcome).toEqual(error ?? (rows === 'all' ? all : rows === 'none' ? [] : rows))
    })
  })
}

function codeOf(error: unknown): string {
  const known = error instanceof EngineError ? error : runtimeFilterError(error)
  if (!known) throw error
  return known.code
}
