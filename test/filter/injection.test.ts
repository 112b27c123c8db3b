import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EngineError } from '../../engine/errors.ts'
import {
  Building,
  type CompiledFilter,
  compileFilter,
  runtimeFilterError,
} from '../../engine/filter/index.ts'
import { Table } from './support/table.ts'

/** Each carries a mark that no SQL of ours holds. */
const MARK = 'pwn3d'
const HOSTILE = [
  `${MARK}'; DROP TABLE t; --`,
  `${MARK}" OR 1=1 --`,
  `${MARK}') OR ('1'='1`,
  `${MARK}\\' OR 1=1`,
  `${MARK}/* */ UNION SELECT 1`,
  `$1${MARK}`,
  `?${MARK}`,
  `$$${MARK}$$`,
  `{${MARK}}`,
  `%${MARK}_`,
  `E'${MARK}'`,
  `${MARK}\u0027 OR 1=1`,
  `${MARK}\uff07 OR 1=1`,
  `${MARK}''''`,
  `x\n${MARK}`,
]

const columnNames = HOSTILE.map((text, index) => `${text}${index}`)

let table: Table
beforeAll(async () => {
  const named = Object.fromEntries(columnNames.map((name) => [name, 'string'] as const))
  const row = ['a', '1', '1.5', '2.5', '2020-01-01', '10:00:00', '2020-01-01 00:00:00+00']
  table = await Table.create(
    {
      s: 'string',
      i: 'integer',
      d: 'double',
      p: 'decimal(10,2)',
      day: 'date',
      clock: 'time',
      at: 'timestamptz',
      ...named,
    },
    [[...row, ...columnNames.map(() => 'a')]],
  )
})
afterAll(() => table[Symbol.asyncDispose]())

/** SQL without its quoted identifiers and without the sentences of our own errors. */
function bare(sql: string): string {
  return sql.replaceAll(/"(?:[^"]|"")*"/g, '').replaceAll(/error\('[^']*'\)/g, '')
}

async function harmless({ sql, parameters }: CompiledFilter): Promise<void> {
  expect(sql).not.toContain(MARK)
  // What is left are our own words, numbers of parameters and a few constants.
  expect(bare(sql)).toMatch(/^(?:[A-Za-z_0-9 (),.=<>+\-*/|[\]]|\$\d+|'NaN'|'%\.15g'|','|'-?[\d.:e+ -]+')*$/)
  await expect(table.query('SELECT count(*) FROM t')).resolves.toEqual([1n])
  await table.query(`SELECT row FROM t WHERE ${sql}`, parameters).catch((error) => {
    if (!runtimeFilterError(error)) throw error
  })
  await expect(table.query('SELECT count(*) FROM t')).resolves.toEqual([1n])
}

const TEXT_POSITIONS = [
  's eq §',
  's gt §',
  '§ eq s',
  'not (s eq §)',
  's in (§)',
  "s in ('a', §, 'b')",
  'contains(s, §)',
  'contains(§, s)',
  'startswith(s, §)',
  'endswith(s, §)',
  'indexof(s, §) eq 1',
  'substring(§, 1) eq §',
  'tolower(§) eq s',
  'trim(§) eq s',
  'concat(s, §) eq §',
  'length(§) gt 5',
  'case(s eq §: §, true: §) eq §',
  's eq § and s ne § or s lt §',
  `s in (${Array.from({ length: 10 }, (_, index) => `'${index}'`)}, §)`,
  `s in (${Array.from({ length: 300 }, (_, index) => `'${index}'`)}, §)`,
  `tolower(s) in (${Array.from({ length: 300 }, (_, index) => `'${index}'`)}, §)`,
] as const

describe('texts reach SQL as parameters alone', () => {
  test.each(TEXT_POSITIONS)('%s', async (position) => {
    for (const text of HOSTILE) {
      const filter = position.replaceAll('§', () => `'${text.replaceAll("'", "''")}'`)
      const compiled = compileFilter(filter, table.columns)
      expect(compiled.parameters.join('\n')).toContain(MARK)
      await harmless(compiled)
    }
  })

  test('patterns, too', async () => {
    for (const text of HOSTILE) {
      const escaped = text.replaceAll(/[$?{}()*\\/|[\]^.]/g, '\\$&').replaceAll("'", "''")
      await harmless(compileFilter(`matchesPattern(s, '${escaped}')`, table.columns))
    }
  })

  test('a text comes back as it was', async () => {
    for (const text of HOSTILE) {
      const literal = `'${text.replaceAll("'", "''")}'`
      const { sql, parameters } = compileFilter(
        `concat(s, ${literal}) eq concat('a', ${literal})`,
        table.columns,
      )
      expect(await table.query(`SELECT row FROM t WHERE ${sql}`, parameters)).toEqual([0])
      expect(parameters.every((parameter) => parameter === 'a' || parameter === text)).toBe(true)
    }
  })
})

describe('names reach SQL as the physical names that the caller gave', () => {
  test.each(columnNames.map((name) => [name]))('%s', async (name) => {
    const quoted = `"${name.replaceAll('"', '""')}"`
    for (const filter of [
      `${quoted} eq 'a'`,
      `contains(${quoted}, 'a') and not (${quoted} in ('b', null))`,
    ]) {
      const building = new Building()
      const compiled = building.filter(filter, table.columns)
      expect([...building.reads]).toEqual([table.columns.findIndex((column) => column.name === name)])
      await harmless(compiled)
      expect(await table.query(`SELECT row FROM t WHERE ${compiled.sql}`, compiled.parameters)).toEqual([0])
    }
  })

  test('an unknown name is named, and nothing else happens', () => {
    for (const text of HOSTILE) {
      const name = `other ${text}`
      expect(() => compileFilter(`"${name.replaceAll('"', '""')}" eq 'a'`, table.columns)).toThrow(
        `Filter contains invalid column(s): ${name}. Column names are case-sensitive.`,
      )
    }
  })
})

describe('what is not a text can hold nothing but its own digits', () => {
  const positions = [
    'i eq §',
    'd gt §',
    'p in (§)',
    'day eq §',
    'clock eq §',
    'at gt §',
    "at add duration'§' gt at",
    'i in (1, §)',
    'substring(s, §) eq s',
    'round(§) eq 1',
    'case(true: §) eq 1',
  ]
  const values = [
    `1${MARK}`,
    `1;${MARK}`,
    `1 OR ${MARK}`,
    `1--${MARK}`,
    `2020-01-01${MARK}`,
    `10:00${MARK}`,
    `1e5${MARK}`,
    `0x${MARK}`,
    `CAST(${MARK})`,
    `$1${MARK}`,
    `P1D${MARK}`,
    `§${MARK}`,
  ]
  test.each(positions)('%s', (position) => {
    for (const value of values) {
      const filter = position.replaceAll('§', () => value)
      expect(() => compileFilter(filter, table.columns)).toThrow(EngineError)
    }
  })
})

test('operators and functions reach SQL by their row of the table, never by their spelling', () => {
  for (const filter of [`s ${MARK} 'a'`, `${MARK}(s)`, `s eq ${MARK}'a'`, `Edm.${MARK} eq 1`]) {
    expect(() => compileFilter(filter, table.columns)).toThrow(EngineError)
  }
})
