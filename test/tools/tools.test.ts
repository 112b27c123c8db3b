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
  }, 120_000)
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
