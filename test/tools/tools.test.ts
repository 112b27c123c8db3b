import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serveSamples } from '../client/served.ts'
import { type Cell, judge } from './judge.ts'
import { Matrix } from './matrix.ts'
import { compare, INTRODUCTION, sectionOf, sectionsIn } from './page.ts'
import { reasonFor } from './reasons.ts'
import { TOOLS } from './tools.ts'
import { TRIED } from './values.ts'
import { faultIn } from './written.ts'

const page = readFileSync(new URL('../../docs/reference/other-programs.md', import.meta.url), 'utf8')
const sections = sectionsIn(page)

describe('the page of the guide about other programs', () => {
  test('has a part of each program, and each type in it', () => {
    expect(page.startsWith(INTRODUCTION)).toBe(true)
    expect([...sections.keys()]).toEqual(TOOLS.map(({ name }) => name))
    for (const section of sections.values()) {
      const rows = [...section.matchAll(/^\| ([^|]+) \|/gm)].map(([, name]) => name)
      expect(rows).toEqual(['download, upload', ...TRIED.map(({ name }) => name)])
    }
  })

  test('has a reason for each number, and each reason of the list', () => {
    for (const section of sections.values()) {
      const numbers = new Set(section.match(/(?<=^\|.*[| ])\d+(?= [^|]*\||\s\|)/gm))
      const reasons = section.match(/^\d+(?=\. )/gm) ?? []
      expect([...numbers].sort()).toEqual([...reasons].sort())
    }
  })

  test('says of curl what curl does', async (context) => {
    const curl = TOOLS.find(({ name }) => name === 'curl')!
    const version = await curl.version().catch(() => undefined)
    if (version === undefined) return context.skip('there is no curl')
    const folder = mkdtempSync(join(tmpdir(), 'parquetry-tools-'))
    await using served = await serveSamples()
    const matrix = new Matrix({ address: served.url, key: served.key }, folder)
    await matrix.prepare()
    const section = sectionOf('curl', version, await matrix.run(curl))
    rmSync(folder, { recursive: true })
    expect(compare(section, sections.get('curl')), section).toBe('same')
  }, 300_000)
})

describe('values that went through a program', () => {
  test.each<[string, string, Cell, unknown]>([
    ['integer', '9007199254740993', ['int', '9007199254740993'], 'same'],
    ['integer', '9007199254740993', ['float', '9007199254740992.0'], { got: 'float "9007199254740992.0"' }],
    ['integer', '12', ['float', '12.0'], 'text'],
    ['decimal(18,4)', '1.5000', ['decimal', '1.5'], 'same'],
    ['decimal(18,4)', '0.0001', ['float', '1e-4'], 'text'],
    ['decimal(18,4)', '1.5000', ['decimal', '1.5001'], { got: 'decimal "1.5001"' }],
    ['double', '-INF', ['float', '-inf'], 'same'],
    ['double', '0.1', ['float', '0.10000000000000002'], { expected: '0.1' }],
    ['date', '2024-02-29', ['datetime', '2024-02-29T00:00:00'], 'text'],
    ['date', '2024-02-29', ['datetime', '2024-02-29T01:00:00'], { expected: '2024-02-29' }],
    ['time', '10:20:30.5', ['time', '10:20:30.500000'], 'same'],
    ['timestamptz', '2024-02-29T10:20:30Z', ['datetimetz', '2024-02-29T10:20:30+00:00'], 'same'],
    [
      'timestamptz',
      '2024-02-29T10:20:30Z',
      ['datetime', '2024-02-29T10:20:30'],
      { expected: '2024-02-29T10:20:30Z' },
    ],
    ['json', '{"a":[1]}', ['object', '{"a": [1]}'], 'same'],
    ['string', 'a', ['null', null], { got: 'null' }],
    ['string', '', ['str', ''], 'same'],
  ])('%s %s as %j', (type, expected, cell, verdict) => {
    const found = judge(type, [expected], [cell])
    if (typeof verdict === 'string') expect(found).toBe(verdict)
    else expect(found).toMatchObject(verdict as object)
  })

  test('must all be there', () => {
    expect(judge('string', ['a', 'b'], [['str', 'a']])).toMatchObject({ got: '1 rows' })
  })

  test('that differ without a reason are named', () => {
    expect(reasonFor('curl', 'upload', 'csv', 'date')).toBeUndefined()
    const results = TRIED.flatMap(({ name: type }) =>
      (['download', 'upload'] as const).map((way) => {
        const found = type === 'date' && way === 'upload' ? { problem: 'it became a fruit' } : ('=' as const)
        return { way, format: 'csv' as const, type, found }
      }),
    )
    expect(() => sectionOf('curl', '1', results)).toThrow('curl, upload, csv, date: it became a fruit')
  })
})

describe('a file that a program wrote is read otherwise where', () => {
  test.each([
    ['a text is a number', ['text', '007'], 7, 'integer', '7, not ["text","007"]'],
    ['a number is a text', ['number', '7'], '7', 'string', '"7", not'],
    ['a digit is lost', ['number', '9007199254740993'], '9007199254740992', 'integer', 'not ["number"'],
    ['a value is lost', ['boolean', 'false'], null, 'boolean', 'null, not'],
    ['an empty text is null', ['text', ''], null, 'string', 'null, not'],
    ['a moment is another', ['time', '2024-01-02T00:00:01'], '2024-01-02', 'date', 'not ["time"'],
    ['a day is text', ['time', '2024-01-02'], '2024-01-02', 'string', 'not ["time"'],
  ] as const)('%s', (_, cell, value, type, message) => {
    expect(faultIn(['a'], [[cell]], [{ a: value }], [{ name: 'a', type }])).toContain(message)
  })

  test.each([
    [['number', '7.0'], '7', 'integer'],
    [['number', '9223372036854775807'], '9223372036854775807', 'integer'],
    [['time', '2024-01-02T00:00:00'], '2024-01-02', 'date'],
    [['time', '2024-01-02T03:04:05.120000'], '2024-01-02T03:04:05.12', 'timestamp'],
    [['text', ''], null, 'double'],
    [null, null, 'string'],
  ] as const)('but not for %j as %j', (cell, value, type) => {
    expect(faultIn(['a'], [[cell]], [{ a: value }], [{ name: 'a', type }])).toBeUndefined()
  })

  test('rows or columns are missing', () => {
    expect(faultIn(['a'], [], [], [{ name: 'b', type: 'string' }])).toBe('columns b, not a')
    expect(faultIn(['a'], [[null]], [], [{ name: 'a', type: 'string' }])).toBe('0 rows, not 1')
  })
})
