import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import type { Column } from '../../server/client/index.ts'
import {
  beyondForm,
  type Grouping,
  methodsFor,
  partsFor,
  readGrouping,
  writeGrouping,
} from '../../server/console/src/group/grouping.ts'
import { readResultChoice } from '../../server/console/src/plot/choice.ts'
import { cellsOf, drawingOf } from '../../server/console/src/plot/draw.ts'
import { signIn, visit, withoutBrowser } from './support/browser.ts'
import { ROOT_KEY } from './support/stage.ts'
import { walk } from './support/steps.ts'

const column = (name: string, type: Column['type']): Column => ({
  name,
  type,
  nullable: true,
  description: '',
})

describe('a grouping', () => {
  const columns = [column('town', 'string'), column('day', 'date'), column('Rain (mm)', 'double')]

  it.each([
    [[['town', '']], [], 'groupby((town))'],
    [[], [['', 'count']], 'aggregate($count as rows)'],
    [
      [['town', '']],
      [['Rain (mm)', 'sum']],
      'groupby((town),aggregate("Rain (mm)" with sum as "Rain (mm)_sum"))',
    ],
    [
      [
        ['day', 'year'],
        ['town', ''],
      ],
      [
        ['', 'count'],
        ['', 'count'],
      ],
      'compute(year(day) as day_year)/groupby((day_year,town),aggregate($count as rows,$count as rows_2))',
    ],
    [
      [
        ['day', 'quarter'],
        ['day', 'month_start'],
        ['day', 'month'],
      ],
      [],
      "compute(concat(concat(cast(year(day),Edm.String),' Q'),cast((month(day) add 2) div 3,Edm.String)) as day_quarter," +
        "date(day) sub (day(day) sub 1) mul duration'P1D' as day_month_start,month(day) as day_month)" +
        '/groupby((day_quarter,day_month_start,day_month))',
    ],
    [[], [], ''],
  ] as const)('%j with %j is written as a pipeline', (keys, sums, text) => {
    const grouping = {
      keys: keys.map(([name, part]) => ({ column: name, part })),
      sums: sums.map(([name, method]) => ({ column: name, method })),
    }
    expect(writeGrouping(grouping)).toBe(text)
    expect(readGrouping(text, columns)).toEqual(grouping)
  })

  it('is read again whatever the columns are called', () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1, unit: 'grapheme' }), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(names, fc.gen(), (all, pick) => {
        const known = all.map((name) => column(name, pick(fc.constantFrom, 'double', 'date', 'string')))
        const one = () => pick(fc.constantFrom, ...known)
        const grouping: Grouping = {
          keys: [one()].map(({ name, type }) => ({ column: name, part: partsFor(type).at(-1)! })),
          sums: [one(), one()].map(({ name, type }) => ({ column: name, method: methodsFor(type)[0]! })),
        }
        const read = readGrouping(writeGrouping(grouping), known)
        // What can't be told apart for certain is left to the text, never misread.
        if (read !== undefined) expect(read).toEqual(grouping)
      }),
    )
  })

  it.each([
    ['groupby((town),aggregate(day with max as latest))', undefined],
    [
      'compute( year(day) as y ) / groupby( ("town", y), aggregate($count as n, "Rain (mm)" with sum as rain))',
      'compute(year(day) as y)/groupby((town,y),aggregate($count as n,"Rain (mm)" with sum as rain))',
    ],
    ['groupby((town),aggregate($count as rows_2,$count as n))', undefined],
    [
      "compute(date(day) sub (day(day) sub 1) mul duration'P1D' as month)/groupby((month),aggregate(town with first as day_month))",
      undefined,
    ],
  ])('%s keeps its names', (text, written = text) => {
    const read = readGrouping(text, columns)!
    expect(writeGrouping(read)).toBe(written)
    // What is added gets other names.
    const { keys, sums } = read
    const more = writeGrouping({ keys, sums: [...sums, { column: '', method: 'count' }] })
    expect(readGrouping(more, columns)!.sums).toHaveLength(sums.length + 1)
  })

  it.each([
    ['filter(town eq 1)/groupby((town))', 'filter(…)'],
    ['groupby((nowhere))', 'nowhere, which is not a column'],
    ['groupby((town),aggregate("Rain (mm)" mul 2 with sum as twice))', '"Rain (mm)" mul 2 with sum as twice'],
    ['groupby((town))/aggregate($count as n)', 'these steps'],
    ['nonsense', 'these steps'],
  ])('%s is left to the text, which says why', (text, why) => {
    expect(readGrouping(text, columns)).toBeUndefined()
    expect(beyondForm(text, columns)).toBe(why)
  })
})

describe('a plot of a result', () => {
  it('draws bars for names, a line along time, and a series for each other key where one repeats', () => {
    const total = column('total', 'double')
    const kindOf = (columns: Column[], rows: string[][]) => readResultChoice({}, columns, rows)
    expect(kindOf([column('town', 'string'), total], [['a', '1']])).toMatchObject({ kind: 'bar' })
    expect(kindOf([column('day', 'date'), total], [['2024-01-01', '1']])).toMatchObject({ kind: 'line' })
    const columns = [column('town', 'string'), column('year', 'integer'), total]
    const rows = [
      ['a', '2023', '1'],
      ['a', '2024', '2'],
    ]
    const choice = readResultChoice({ y: 'total' }, columns, rows)!
    expect([choice.x, ...choice.by].map(({ name }) => name)).toEqual(['town', 'year'])
    expect(drawingOf(cellsOf(choice, columns, rows))).toMatchObject({
      labels: ['a'],
      series: [
        { name: '2023', ys: [1] },
        { name: '2024', ys: [2] },
      ],
    })
    expect(kindOf([column('town', 'string')], [['a']])).toBeUndefined()
  })
})

const TOWNS = ['Oslo', 'Bergen', 'Hamar']
const CSV = [
  'day,town,rain',
  ...Array.from({ length: 600 }, (_, at) => {
    const day = new Date(Date.UTC(2023, 0, 1 + at)).toISOString().slice(0, 10)
    return `${day},${TOWNS[at % 3]},${at % 7}`
  }),
  '',
].join('\n')

describe.skipIf(withoutBrowser())('grouping and summing by clicks', () => {
  const walked = walk(async ({ stage, visitor }) => {
    await stage.api('POST', '/repositories', { name: 'Weather', private: false })
    await stage.api('POST', '/datasets', { name: 'rain', repositoryId: 1 })
    await stage.upload('/datasets/1/data', 'text/csv', CSV)
    await signIn(visitor, `${stage.server.url}/console/#/datasets/1`, ROOT_KEY)
  })

  const rows = () => walked.visitor.page.locator('.grid-row')
  const cells = async (at: number) => rows().nth(at).getByRole('gridcell').allTextContents()

  it('writes the pipeline that it shows, and shows what comes out', async () => {
    const { page } = walked.visitor
    await page.locator('.chip', { hasText: 'Group and sum' }).click()
    await page.getByRole('button', { name: 'Group by a column' }).click()
    await page.getByLabel('Column to group by').selectOption('town')
    await page.getByRole('button', { name: 'Calculate something' }).click()
    await page.getByRole('button', { name: 'Calculate something' }).click()
    const text = page.getByLabel('$apply')
    await expect
      .poll(() => text.inputValue())
      .toBe('groupby((town),aggregate($count as rows,rain with sum as rain_sum))')
    await page.getByText('3 rows in the result').waitFor()
    const lines = CSV.split('\n').filter((line) => line.includes('Oslo'))
    const sum = lines.reduce((total, line) => total + Number(line.split(',')[2]), 0)
    await expect.poll(() => cells(0)).toEqual(['Oslo', '200', String(sum)])
    await walked.expectClean('group-table')
  })

  it('groups by parts of dates, under the filter of the rows', async () => {
    const { page } = walked.visitor
    await page.getByLabel('Column to group by').selectOption('day')
    await page.getByLabel('Part of day').selectOption('year')
    const filter = page.getByLabel('Filter', { exact: true })
    await filter.fill("town eq 'Oslo'")
    await filter.press('Enter')
    await page.getByText('2 rows in the result').waitFor()
    await expect.poll(async () => (await cells(0)).slice(0, 2)).toEqual(['2023', '122'])
    const heading = page.getByRole('columnheader', { name: 'rows' })
    await heading.getByRole('button').click()
    await expect.poll(async () => (await cells(0)).slice(0, 2)).toEqual(['2024', '78'])
    await walked.expectClean('group-year')
  })

  it('tells apart what is wrong with the filter and with the pipeline', async () => {
    const { page } = walked.visitor
    walked.visitor.expectRefusal(400, '/data?')
    const text = page.getByLabel('$apply')
    await text.fill('groupby((town),aggregate(rain with summ as total))')
    await text.press('Enter')
    const alert = page.getByRole('alert')
    await alert.getByText("'summ' is not an aggregation method").waitFor()
    expect(await alert.textContent()).toContain('position 36')
    await walked.expectClean('group-wrong')
    await text.fill('groupby((town),aggregate(rain with sum as total))/topcount(1,total)')
    await text.press('Enter')
    await page.getByText('1 row in the result').waitFor()
    await page.getByText('The form can’t show topcount(…)').waitFor()
    const filter = page.getByLabel('Filter', { exact: true })
    await filter.fill('twon eq 1')
    await filter.press('Enter')
    await page.getByText('Filter contains invalid column(s): twon.').waitFor()
    expect(await page.locator('.filter-mirror .is-wrong').textContent()).toBe('twon')
    await walked.expectClean('group-wrong-filter')
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await text.fill(
      'compute(month(day) as day_month)/groupby((day_month),aggregate(rain with average as rain_average))',
    )
    await text.press('Enter')
    await page.getByText('12 rows in the result').waitFor()
  })

  it('draws the result by what its columns are', async () => {
    const { page } = walked.visitor
    await page.getByRole('tab', { name: 'Plot' }).click()
    await page.locator('.u-over').waitFor()
    await page.getByText('All 12 rows of the result.').waitFor()
    expect(await page.getByLabel('Chart type').inputValue()).toBe('bar')
    await walked.expectClean('group-bars')
    await page.getByLabel('Chart type').selectOption('line')
    await page.getByText('The numbers').click()
    expect(await page.locator('.numbers tbody tr').count()).toBe(12)
    await walked.expectClean('group-line')
  })

  it('downloads the result in every format, byte for byte', async () => {
    const { page } = walked.visitor
    for (const format of ['CSV', 'Excel', 'Parquet', 'JSON', 'NDJSON', 'TSV', 'Arrow']) {
      const ending = format === 'Excel' ? 'xlsx' : format.toLowerCase()
      await page.getByRole('button', { name: 'Download' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('12 rows, as grouped and summed').waitFor()
      await dialog.getByRole('radio', { name: new RegExp(`^${format} (?!file)[^,]`) }).check()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name: 'Download' }).click(),
      ])
      const query = new URLSearchParams({
        $apply:
          'compute(month(day) as day_month)/groupby((day_month),aggregate(rain with average as rain_average))',
        $format: ending,
      })
      const direct = await (await walked.stage.api('GET', `/datasets/1/data?${query}`)).arrayBuffer()
      const saved = await readFile(await download.path())
      expect(saved.equals(Buffer.from(direct)), format).toBe(true)
      await dialog.waitFor({ state: 'hidden' })
    }
  })

  it('gives a link that shows another account the same', async () => {
    const { page } = walked.visitor
    await page.getByRole('tab', { name: 'Table' }).click()
    await page.getByRole('columnheader', { name: 'rain_average' }).getByRole('button').click()
    await page.getByRole('tab', { name: 'Plot' }).click()
    await page.getByText('All 12 rows of the result.').waitFor()
    await page.getByText('The numbers').click()
    const shown = await page.locator('.numbers').textContent()
    await page.getByRole('button', { name: 'Copy the link' }).click()
    await page.getByText('The link to this view is copied.').waitFor()
    const key = await walked.stage.account('grace')
    await using grace = await visit(walked.stage.server.url)
    await signIn(grace, page.url(), key)
    await grace.page.getByText('All 12 rows of the result.').waitFor()
    await grace.page.getByText('The numbers').click()
    expect(await grace.page.locator('.numbers').textContent()).toBe(shown)
    expect(await grace.page.getByLabel('Chart type').inputValue()).toBe('line')
    await grace.page.getByRole('tab', { name: 'Table' }).click()
    const heading = grace.page.getByRole('columnheader', { name: 'rain_average' })
    await expect.poll(() => heading.getAttribute('aria-sort')).toBe('ascending')
    expect(grace.complaints).toEqual([])
  })

  it('fits a narrow screen, and goes back to the rows', async () => {
    const { page } = walked.visitor
    await page.setViewportSize({ width: 360, height: 740 })
    for (const tab of ['Plot', 'Table']) {
      await page.getByRole('tab', { name: tab }).click()
      await page.locator('.grid-row, .u-over').first().waitFor()
      // The chart is drawn anew in its place's new width.
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth))
        .toBeLessThanOrEqual(0)
      await walked.expectClean(`group-narrow-${tab.toLowerCase()}`)
    }
    await page.getByRole('button', { name: 'Show the rows again' }).click()
    await page.getByText('all rows').waitFor()
    expect(page.url()).not.toContain('apply')
    await walked.expectClean('group-over')
  })

  it('says in the picture, too, which bars are left out', async () => {
    const { page } = walked.visitor
    const heightOf = async (pipeline: string) => {
      await page.evaluate((hash) => (location.hash = hash), `#/datasets/1?view=plot&apply=${pipeline}`)
      await page.getByText(/^All \d+ rows of the result/).waitFor()
      await page.locator('.u-over').waitFor()
      const saving = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Save picture' }).click()
      return PNG.sync.read(await readFile(await (await saving).path())).height
    }
    const month = "concat(town,concat(' ',cast(month(day),Edm.String)))"
    const few = await heightOf('groupby((town),aggregate($count as n))')
    const many = encodeURIComponent(`compute(${month} as at)/groupby((at),aggregate($count as n))`)
    const height = await heightOf(many)
    await page.getByText('The first 24 of 36 values are shown.').waitFor()
    expect(height).toBeGreaterThan(few)
  })
})
