import { Buffer } from 'node:buffer'
import ExcelJS from 'exceljs'
import { describe, expect, it } from 'vitest'
import { ACCEPT, kindOf } from '../../server/console/src/upload/formats.ts'
import { signIn, withoutBrowser } from './support/browser.ts'
import { ROOT_KEY } from './support/stage.ts'
import { walk } from './support/steps.ts'

const GERMAN = 'Messungen\n\nStadt;Höhe;am\nKöln;1,5;2024-01-31\nHof;NA;\nJena;-2,25;2024-02-01\n'

describe.skipIf(withoutBrowser())('uploads of files that other programs wrote', () => {
  const walked = walk(async ({ stage, visitor }) => {
    await stage.api('POST', '/repositories', { name: 'Towns', private: false })
    await signIn(visitor, `${stage.server.url}/console/#/repositories/1/upload`, ROOT_KEY)
  })
  const choose = (name: string, buffer: Buffer) =>
    walked.visitor.page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer })
  const rows = async () => (await walked.stage.api('GET', '/datasets/1/data?$format=json')).json()

  it('finds delimiter, decimal comma, encoding and texts for no value before anything is sent', async () => {
    const { page } = walked.visitor
    await choose('towns.csv', Buffer.from(GERMAN, 'latin1'))
    await page.getByText('3 columns, 3 rows.').waitFor()
    expect(await page.getByLabel('Between fields').inputValue()).toBe(';')
    expect(await page.getByLabel('Decimal sign').inputValue()).toBe(',')
    expect(await page.getByLabel('Lines above it').inputValue()).toBe('2')
    expect(await page.getByLabel('Characters').inputValue()).toBe('windows-1252')
    expect(await page.getByLabel('Texts for missing values').inputValue()).toBe('NA')
    expect(await page.getByLabel('Type of Höhe').inputValue()).toBe('double')
    await walked.expectClean('upload-dialect')
    await page.getByRole('button', { name: 'Create the dataset' }).click()
    await page.getByRole('heading', { name: 'towns', level: 1, exact: true }).waitFor()
    expect(await rows()).toEqual([
      { Stadt: 'Köln', Höhe: 1.5, am: '2024-01-31' },
      { Stadt: 'Hof', Höhe: null, am: null },
      { Stadt: 'Jena', Höhe: -2.25, am: '2024-02-01' },
    ])
  })

  it('reads anew as it is told, and says what does not fit', async () => {
    const { page } = walked.visitor
    await page.getByRole('link', { name: 'Add rows' }).click()
    await choose('more.csv', Buffer.from('Messungen\n\na,b;c\n1,2;3\n4;5\n'))
    await page.getByText('2 columns, 2 rows.').waitFor()
    expect(await page.getByLabel('Lines above it').inputValue()).toBe('2')
    await page.getByLabel('Between fields').selectOption('comma ,')
    await page.getByText('Row 2: it has 1 of the 2 fields of the header: "4;5".').waitFor()
    expect(await page.getByRole('button', { name: 'Add the rows' }).isDisabled()).toBe(true)
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(
      0,
    )
    await walked.expectClean('upload-narrow')
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('replaces rows and columns together', async () => {
    const { page } = walked.visitor
    await choose('more.csv', Buffer.from('1|x\n2|y\n'))
    await page.getByText('Is “Between fields: |” meant?').waitFor()
    await page.getByRole('radio', { name: /^Replace columns too/ }).check()
    await page.getByText('2 columns, 2 rows.').waitFor()
    expect(await page.getByLabel('First line').inputValue()).toBe('absent')
    await walked.expectClean('upload-replace')
    await page.getByRole('button', { name: 'Replace all rows' }).click()
    await page.getByRole('heading', { name: 'towns', level: 1, exact: true }).waitFor()
    expect(await rows()).toEqual([
      { column1: 1, column2: 'x' },
      { column1: 2, column2: 'y' },
    ])
  })

  it('says that there may be more faults than it lists', async () => {
    const { page } = walked.visitor
    walked.visitor.expectRefusal(400, '/datasets/1/data')
    await page.getByRole('link', { name: 'Add rows' }).click()
    await choose('bad.csv', Buffer.from('x|y\n'.repeat(25)))
    await page.getByText('2 columns, 25 rows.').waitFor()
    await page.getByRole('button', { name: 'Add the rows' }).click()
    await page.getByText('Row 20, column "column1"').waitFor()
    expect(await page.getByText(/^Row \d+/).count()).toBe(20)
    await page.getByText('There may be more errors.').waitFor()
    await walked.expectClean('upload-faults')
  })

  it('reads the sheet of a workbook that is chosen', async () => {
    const { page } = walked.visitor
    await walked.go('repositories/1/upload')
    await page.getByRole('heading', { name: 'New dataset' }).waitFor()
    const book = new ExcelJS.Workbook()
    book.addWorksheet('Notes')
    const merged = [
      ['year', 2023, null, 2024],
      [null, 'a', 'b', 'a', 'b'],
      ['x', 1, 2, 3, 4],
      ['y', 'gone', 2, 3, 4],
    ]
    book.addWorksheet('Years').addRows(merged)
    book.addWorksheet('Prices 2024').addRows([['price'], [1.5]])
    await choose('books.xlsx', Buffer.from(await book.xlsx.writeBuffer()))
    await page.getByText('The first sheet is empty').waitFor()
    await page.getByLabel('Sheet of the workbook').selectOption('Years')
    await page.getByLabel('Type of 2024 b').waitFor()
    expect(await page.getByLabel('Rows with names').inputValue()).toBe('2')
    expect(await page.getByLabel('Type of 2023 a').inputValue()).toBe('string')
    await page.getByLabel('Texts for missing values').fill('gone')
    await expect.poll(() => page.getByLabel('Type of 2023 a').inputValue()).toBe('integer')
    expect(await page.getByLabel('First line').locator('option').count()).toBe(3)
    await page.getByLabel('Sheet of the workbook').selectOption('Prices 2024')
    await page.getByLabel('Type of price').waitFor()
    await walked.expectClean('upload-sheet')
    await page.getByRole('button', { name: 'Create the dataset' }).click()
    await page.getByRole('heading', { name: 'books', level: 1, exact: true }).waitFor()
    expect(await (await walked.stage.api('GET', '/datasets/2/data?$format=json')).json()).toEqual([
      { price: 1.5 },
    ])
  })

  it('changes no cell of a row that no condition can tell from others', async () => {
    const { page } = walked.visitor
    await walked.stage.api('POST', '/datasets', { name: 'objects', repositoryId: 1 })
    await walked.stage.upload('/datasets/3/data', 'application/x-ndjson', '{"a":{"b":1}}\n{"a":{"b":2}}\n')
    await walked.go('datasets/3')
    await page.getByRole('gridcell').first().click()
    expect(await page.getByRole('button', { name: /these$/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByText('it can not be told from others').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  it('changes the one row that has infinity or NaN, and none if the row is gone', async () => {
    const { page } = walked.visitor
    await walked.stage.api('POST', '/datasets', { name: 'odd numbers', repositoryId: 1 })
    const put = (text: string) => walked.stage.upload('/datasets/4/data', 'text/csv', text)
    const rows = async () => (await walked.stage.api('GET', '/datasets/4/data')).text()
    await put('n,x\n1,1.5\n1,NaN\n1,INF\n1,-INF\n')
    await walked.go('datasets/4')
    const change = async (row: number) => {
      await page.locator('.grid-row').nth(row).getByRole('gridcell').first().click()
      await page.getByRole('button', { name: 'Change', exact: true }).click()
      await page.getByRole('dialog').waitFor()
      // The focus is in the field.
      await page.keyboard.press('Control+A')
      await page.keyboard.type('7')
      return page.getByRole('dialog').getByRole('button', { name: 'Change' })
    }
    for (const row of [1, 2]) {
      await (await change(row)).click()
      await page
        .getByRole('gridcell', { name: '7', exact: true })
        .nth(row - 1)
        .waitFor()
    }
    expect(await rows()).toBe('n,x\n1,1.5\n7,NaN\n7,INF\n1,-INF\n')
    for (const [row, found] of [
      [1, 'n,x\n7,NaN\n'],
      [2, 'n,x\n7,INF\n'],
    ] as const) {
      await page.locator('.grid-row').nth(row).getByRole('gridcell').last().click()
      await page.getByRole('button', { name: 'Only these' }).click()
      await page.getByText('1 of 4 rows').waitFor()
      const filter = new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('filter')!
      const answer = await walked.stage.api('GET', `/datasets/4/data?$filter=${encodeURIComponent(filter)}`)
      expect(await answer.text()).toBe(found)
      await page.goBack()
      await page.getByText('all rows').waitFor()
    }
    const send = await change(0)
    await put('n,x\n5,5\n')
    await send.click()
    await page.getByText('The row was changed or deleted in the meantime').waitFor()
    await page.keyboard.press('Escape')
    expect(await rows()).toBe('n,x\n5,5\n')
  })

  it('reads times in the zone that is chosen', async () => {
    const { page } = walked.visitor
    const made = await walked.stage.api('POST', '/datasets', { name: 'times', repositoryId: 1 })
    const { id } = await made.json()
    await walked.stage.api('PUT', `/datasets/${id}/columns`, [{ name: 't', type: 'timestamptz' }])
    await walked.go(`repositories/1/upload?dataset=${id}`)
    await page.getByRole('heading', { name: 'Add rows to times' }).waitFor()
    await choose('times.csv', Buffer.from('t\n2024-07-01T12:00\n'))
    await page.getByLabel('Zone of times').selectOption('Europe/Berlin')
    await page.getByText('1 column, 1 row.').waitFor()
    await page.getByRole('button', { name: 'Add the rows' }).click()
    await page.getByRole('heading', { name: 'times', level: 1, exact: true }).waitFor()
    expect(await (await walked.stage.api('GET', `/datasets/${id}/data?$format=json`)).json()).toEqual([
      { t: '2024-07-01T10:00:00Z' },
    ])
    await walked.go(`repositories/1/upload?dataset=${id}`)
    await page.getByRole('heading', { name: 'Add rows to times' }).waitFor()
    await choose('times.csv', Buffer.from('t\n2024-07-02T12:00\n'))
    await page.getByText('1 column, 1 row.').waitFor()
    expect(await page.getByLabel('Zone of times').inputValue()).toBe('Europe/Berlin')
  })

  it('adds the new columns of a file, if that is accepted', async () => {
    const { stage, visitor } = walked
    const { page } = visitor
    const { id } = (await (
      await stage.api('POST', '/datasets', { name: 'narrow', repositoryId: 1 })
    ).json()) as {
      id: number
    }
    const all = async () => (await stage.api('GET', `/datasets/${id}/data`)).text()
    visitor.expectRefusal(409, `/datasets/${id}/data`)
    await walked.go(`repositories/1/upload?dataset=${id}`)
    await choose('first.csv', Buffer.from('a,b\n1,x\n'))
    await page.getByText('2 columns, 1 row.').waitFor()
    await page.getByRole('button', { name: 'Add the rows' }).click()
    await page.getByRole('heading', { name: 'narrow', level: 1, exact: true }).waitFor()
    await page.getByRole('link', { name: 'Add rows' }).click()
    await choose('wider.csv', Buffer.from('a,b,note\n2,y,new\n'))
    await page.getByText('“note” is not in the dataset.').waitFor()
    await page.getByRole('button', { name: 'Add the rows' }).click()
    await page.getByText('“Add these columns”').waitFor()
    expect(await all()).toBe('a,b\n1,x\n')
    await walked.expectClean('upload-wider')
    await page.getByRole('button', { name: 'Add these columns' }).click()
    await page.getByRole('heading', { name: 'narrow', level: 1, exact: true }).waitFor()
    expect(await all()).toBe('a,b,note\n1,x,\n2,y,new\n')
  })
})

it.each([
  ['a.CSV', { format: 'csv', gzip: false }],
  ['notes.txt', { format: 'csv', gzip: false }],
  ['notes.TXT.gz', { format: 'csv', gzip: true }],
  ['a.b.jsonl.gz', { format: 'ndjson', gzip: true }],
  ['a.feather', { format: 'arrow', gzip: false }],
  ['a.xlsx.gz', { format: 'zip', gzip: false }],
  ['a.doc', undefined],
  ['csv', undefined],
])('%s is uploaded as %j', (name, kind) => {
  expect(kindOf(name)).toEqual(kind)
})

it('offers to choose every file that it takes', () => {
  const endings = ['csv', 'txt', 'tsv', 'jsonl', 'parquet', 'ipc', 'xlsx', 'gz']
  expect(ACCEPT.split(',')).toEqual(expect.arrayContaining(endings.map((ending) => `.${ending}`)))
})
