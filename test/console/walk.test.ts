import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Visitor, violations, visit, withoutBrowser } from './browser.ts'
import { FRED, openStage, ROOT_KEY, type Stage } from './stage.ts'

const CSV = [
  'day,station,"Rain (mm)",temperature,sunny',
  ...Array.from({ length: 400 }, (_, at) => {
    const day = new Date(Date.UTC(2024, 0, 1 + at)).toISOString().slice(0, 10)
    const station = ['Oslo', 'Bergen', "Hell, i'm"][at % 3]!
    return `${day},"${station}",${at % 7 === 0 ? '' : at % 11},${(at % 40) / 2 - 5},${at % 2 === 0}`
  }),
  '',
].join('\n')

describe.skipIf(withoutBrowser())('a walk through the console', () => {
  let stage: Stage
  let visitor: Visitor
  let address: string

  beforeAll(async () => {
    stage = await openStage(FRED)
    visitor = await visit(stage.server.url)
    address = `${stage.server.url}/console/`
  }, 120_000)

  afterAll(async () => {
    await visitor?.[Symbol.asyncDispose]()
    await stage?.[Symbol.asyncDispose]()
  })

  // Each step begins where the one before has ended.
  let broken = false
  beforeEach(({ onTestFailed }) => {
    if (broken) throw new Error('an earlier step has failed')
    onTestFailed(() => {
      broken = true
    })
  })

  /** Every step leaves a view behind that axe finds nothing wrong with, and a quiet browser. */
  async function expectClean() {
    expect(await violations(visitor.page)).toEqual([])
    expect(visitor.complaints).toEqual([])
  }

  it('is interactive within a second, under a strict policy', async () => {
    const { page } = visitor
    const response = await page.goto(address)
    const policy = response!.headers()['content-security-policy']!
    expect(policy).not.toContain('unsafe')
    await page.getByLabel('Your key').waitFor()
    const times: number[] = []
    for (let round = 0; round < 3; round += 1) {
      await page.reload()
      await page.getByLabel('Your key').waitFor()
      times.push(
        await page.evaluate(() => performance.getEntriesByName('parquetry:interactive')[0]!.startTime),
      )
    }
    expect(times.sort((a, b) => a - b)[1]).toBeLessThan(1_000)
    await expectClean()
  })

  it('refuses a wrong key, takes the right one and keeps it in the tab alone', async () => {
    const { page } = visitor
    visitor.expectRefusal(401, '/account')
    await page.getByLabel('Your key').fill('not-the-key')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This key is not known here.').waitFor()
    await expectClean()
    await page.getByLabel('Your key').fill(ROOT_KEY)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'No repositories yet' }).waitFor()
    expect(await page.evaluate(() => Object.values({ ...localStorage }).join())).not.toContain(ROOT_KEY)
    expect(await page.context().cookies()).toEqual([])
    await expectClean()
  })

  it('makes a private repository', async () => {
    const { page } = visitor
    await page.getByRole('button', { name: 'New repository' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'New repository' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Weather')
    await dialog.getByRole('checkbox').check()
    await expectClean()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Weather private' }).waitFor()
    await expectClean()
  })

  it('shows a file before it is stored, and the row and column of what is wrong with it', async () => {
    const { page } = visitor
    await page.getByRole('link', { name: 'New dataset' }).click()
    const chooser = page.locator('input[type=file]')
    const broken = CSV.replace('2024-01-03', '2024-01-33')
    await chooser.setInputFiles({ name: 'broken.csv', mimeType: 'text/csv', buffer: Buffer.from(broken) })
    await page.getByLabel('Type of day').selectOption('date')
    visitor.expectRefusal(400, '/data')
    await page.getByRole('button', { name: 'Create the dataset' }).click()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toMatch(/row 3.*day/is)
    const left = (await (await stage.api('GET', '/datasets')).json()) as unknown[]
    expect(left).toEqual([])
    await expectClean()
  })

  it('takes a dropped file with the types that it found', async () => {
    const { page } = visitor
    await drop(page, '.drop', 'stations.csv', CSV)
    await page.getByText('5 columns, 400 rows.').waitFor()
    const types = page.locator('.type-choice')
    expect(
      await types.evaluateAll((all) => all.map((choice) => (choice as HTMLSelectElement).value)),
    ).toEqual(['date', 'string', 'integer', 'double', 'boolean'])
    await page.getByLabel('Type of Rain (mm)').selectOption('decimal(18,2)')
    const digits = page.getByLabel('Digits of Rain (mm)', { exact: true })
    await digits.fill('20')
    await digits.press('Tab')
    expect(await page.getByLabel('Type of Rain (mm)').inputValue()).toBe('decimal(20,2)')
    await page.getByLabel('Type of Rain (mm)').selectOption('double')
    expect(await page.getByLabel('Type of day').locator('option').allTextContents()).toContain('binary')
    await page.getByLabel('Name of the dataset').fill('stations')
    await expectClean()
    await page.getByRole('button', { name: 'Create the dataset' }).click()
    await page.getByRole('heading', { name: 'stations', level: 1 }).waitFor()
    await page.getByRole('gridcell', { name: '2024-01-01' }).waitFor()
    await expectClean()
  })

  it('marks where a filter is wrong, and filters once it is mended', async () => {
    const { page } = visitor
    visitor.expectRefusal(400, '/data?')
    const filter = page.getByLabel('Filter', { exact: true })
    await filter.fill("station eq 'Oslo' and temperatur gt 3")
    await filter.press('Enter')
    await page.getByText('Filter contains invalid column(s): temperatur.').waitFor()
    expect(await page.locator('.filter-mirror .is-wrong').textContent()).toBe('temperatur')
    await expectClean()

    await filter.fill("station eq 'Oslo' and temperature gt gt 3")
    await filter.press('Enter')
    await page.getByText('At position 41').waitFor()
    expect(await page.locator('.filter-mirror .is-wrong').textContent()).toBe('3')

    await filter.fill("station eq 'Oslo' and temperature gt 3")
    await filter.press('Enter')
    const expected = rowsOf(CSV).filter((row) => row.includes('"Oslo"') && Number(row.split(',')[3]) > 3)
    await page.getByTestId('row-count').getByText(`${expected.length} of 400 rows`).waitFor()
    expect(page.url()).toContain(encodeURIComponent("station eq 'Oslo' and temperature gt 3"))
    await expectClean()
  })

  it('completes columns, functions, operators and values by keyboard', async () => {
    const { page } = visitor
    const filter = page.getByLabel('Filter', { exact: true })
    await filter.fill('')
    await filter.pressSequentially('stat')
    await page.getByRole('option', { name: 'station' }).waitFor()
    await expectClean()
    await filter.press('ArrowDown')
    await filter.press('Enter')
    await filter.press('ArrowDown')
    await filter.press('Enter')
    await page.getByRole('option', { name: "'Bergen'" }).click()
    expect(await filter.inputValue()).toBe("station eq 'Bergen' ")
    await filter.press('Escape')
    await filter.press('Enter')
    await page.getByTestId('row-count').getByText('133 of 400 rows').waitFor()
  })

  it('builds the same filter by clicks', async () => {
    const { page } = visitor
    await page.getByRole('button', { name: 'Build a filter' }).click()
    expect(await page.getByLabel('Value').inputValue()).toBe('Bergen')
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByLabel('Column', { exact: true }).last().selectOption('Rain (mm)')
    await page.getByLabel('Comparison').last().selectOption('ge')
    await page.getByLabel('Value').last().fill('5')
    await expectClean()
    await page.locator('.builder').getByRole('button', { name: 'Apply' }).click()
    const filter = page.getByLabel('Filter', { exact: true })
    await expect.poll(() => filter.inputValue()).toBe(`station eq 'Bergen' and "Rain (mm)" ge 5`)
    await page.getByRole('button', { name: 'Build a filter' }).click()
  })

  it('sorts by a heading and moves by keys', async () => {
    const { page } = visitor
    const heading = page.getByRole('columnheader', { name: 'temperature' })
    await heading.getByRole('button').click()
    await expect.poll(() => heading.getAttribute('aria-sort')).toBe('ascending')
    await heading.getByRole('button').click()
    await expect.poll(() => heading.getAttribute('aria-sort')).toBe('descending')
    const grid = page.getByRole('grid')
    await expect.poll(() => grid.getAttribute('aria-busy')).toBe('false')
    await grid.focus()
    await grid.press('Control+End')
    await page.getByText(/^row \d+$/).waitFor()
    await grid.press('Control+Home')
    await page.getByText('row 1', { exact: true }).waitFor()
    await expectClean()
  })

  it('downloads what is seen, byte for byte, in every format', async () => {
    const { page } = visitor
    for (const format of ['CSV', 'Excel', 'Parquet', 'JSON', 'NDJSON', 'TSV', 'Arrow']) {
      const ending = format === 'Excel' ? 'xlsx' : format.toLowerCase()
      await page.getByRole('button', { name: 'Download' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('radio', { name: new RegExp(`^${format} `) }).check()
      await expectClean()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name: 'Download' }).click(),
      ])
      expect(download.suggestedFilename()).toBe(`stations.${ending}`)
      const query = new URLSearchParams({
        $filter: `station eq 'Bergen' and "Rain (mm)" ge 5`,
        $orderby: 'temperature desc',
        $format: ending,
      })
      const [{ id }] = (await (await stage.api('GET', '/datasets')).json()) as [{ id: number }]
      const direct = await (await stage.api('GET', `/datasets/${id}/data?${query}`)).arrayBuffer()
      const saved = await readFile(await download.path())
      expect(saved.equals(Buffer.from(direct)), format).toBe(true)
      await dialog.waitFor({ state: 'hidden' })
    }
  })

  it('hides, finds and moves columns, and downloads those that are shown', async () => {
    const { page } = visitor
    const headings = () => page.locator('.grid-head .grid-name').allTextContents()
    await page.getByRole('button', { name: 'Choose columns' }).click()
    const dialog = page.getByRole('dialog', { name: 'Columns' })
    await dialog.getByRole('checkbox', { name: 'sunny' }).uncheck()
    await dialog.getByRole('button', { name: 'Move temperature to the left' }).click()
    await dialog.getByLabel('Find a column').fill('mm')
    await dialog.getByText('4 of 5 shown, 1 found').waitFor()
    await expectClean()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Choose columns (1 hidden)' }).waitFor()
    await expect.poll(headings, { timeout: 20_000 }).toEqual(['day', 'station', 'temperature', 'Rain (mm)'])
    const cells = await page.locator('.grid-row').first().getByRole('gridcell').allTextContents()
    expect(cells[1]).toBe('Bergen')
    await page.getByRole('button', { name: 'Copy as' }).click()
    const lines = page.locator('.snippet')
    expect(await lines.textContent()).toContain('$select=day%2Cstation%2Ctemperature%2C%22Rain%20(mm)%22')
    await page.keyboard.press('Escape')
    await page.reload()
    await expect.poll(headings, { timeout: 20_000 }).toEqual(['day', 'station', 'temperature', 'Rain (mm)'])
    await page.getByRole('button', { name: 'Choose columns' }).click()
    await dialog.getByRole('button', { name: 'Show all' }).click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await expect
      .poll(headings, { timeout: 20_000 })
      .toEqual(['day', 'station', 'Rain (mm)', 'temperature', 'sunny'])
  })

  it('writes the view as a request for curl, Python and R', async () => {
    const { page } = visitor
    await page.getByRole('button', { name: 'Copy as' }).click()
    const lines = page.locator('.snippet')
    expect(await lines.textContent()).toContain('curl --fail --user "$PARQUETRY_KEY:"')
    await page.getByRole('tab', { name: 'Python' }).click()
    expect(await lines.textContent()).toContain('pd.read_csv')
    await page.getByRole('tab', { name: 'R', exact: true }).click()
    expect(await lines.textContent()).toContain('Rain%20(mm)')
    await expectClean()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  })

  it('profiles the columns', async () => {
    const { page } = visitor
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await page.getByRole('tab', { name: 'Columns' }).click()
    const card = page.locator('.column-card', { has: page.getByRole('heading', { name: 'Rain (mm)' }) })
    await card.getByText('58').waitFor()
    expect(await card.locator('dl').textContent()).toBe('nulls58distinct11min0max10')
    await expectClean()
  })

  it('plots, by an address that can be sent, and saves the picture', async () => {
    const { page } = visitor
    await page.getByRole('tab', { name: 'Plot' }).click()
    await page.locator('.u-over').waitFor()
    await page.getByLabel('Along').selectOption('station')
    await page.getByLabel('Upwards').selectOption('temperature')
    await page.getByText('Calculated over all 400 rows, mean by value.').waitFor()
    await page.locator('.u-over').waitFor()
    expect(page.url()).toContain('view=plot&x=station&y=temperature')
    await expectClean()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save picture' }).click(),
    ])
    const picture = await readFile(await download.path())
    expect(picture.subarray(1, 4).toString()).toBe('PNG')
    expect(picture.length).toBeGreaterThan(3_000)
  })

  it('plots sums over all rows, calculated by the service', async () => {
    const { page } = visitor
    await page.evaluate(() => {
      location.hash = '#/datasets/2?view=plot&x=station&y=temperature&of=sum'
    })
    await page.getByText('Calculated over all 400 rows, sum by value.').waitFor()
    await page.getByText('The numbers').click()
    const lines = rowsOf(CSV).filter((line) => line.includes('"Oslo"'))
    const sum = lines.reduce((total, line) => total + Number(line.split(',')[3]), 0)
    const row = page.locator('.values-table tr', { hasText: 'Oslo' })
    expect(await row.locator('td').last().textContent()).toBe(sum.toLocaleString('en'))
    await expectClean()
  })

  it('browses a provider after a key is saved, plots a series and saves it', async () => {
    const { page } = visitor
    visitor.expectRefusal(400, '/providers/fred/browse')
    await page.getByRole('link', { name: 'Providers' }).click()
    await page.getByLabel('Find a provider').fill('st. louis')
    await page.getByRole('link', { name: /FRED/ }).waitFor()
    await expectClean()
    await page.getByRole('link', { name: /FRED/ }).click()
    await page.getByRole('heading', { name: 'FRED needs a key' }).waitFor()
    await page.locator('.empty').getByRole('button', { name: 'Use your own key' }).click()
    await page.getByLabel('Key', { exact: true }).fill('abcdefghijklmnopqrstuvwxyz123456')
    await expectClean()
    await page.getByRole('button', { name: 'Save', exact: true }).click()

    await page.getByRole('treeitem', { name: 'Population' }).click()
    await page.getByRole('link', { name: /POPTHM/ }).waitFor()
    await page.getByText(/requests left, per/).waitFor()
    await expectClean()
    await page.getByRole('link', { name: /POPTHM/ }).click()
    await page.locator('.u-over').waitFor()
    await expectClean()

    await page.getByRole('button', { name: 'Save as dataset' }).click()
    await page.getByLabel('Name of the dataset').fill('population')
    await expectClean()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'population', level: 1 }).waitFor()
    await page.getByText('24 rows').first().waitFor()
    await expectClean()
  })

  it('finds datasets by the names of their columns', async () => {
    const { page } = visitor
    await page.getByRole('link', { name: 'Data', exact: true }).first().click()
    await page.getByLabel('Find a dataset or a column').fill('sunny')
    await page.getByText('1 dataset', { exact: true }).waitFor()
    await page.getByRole('link', { name: /stations/ }).waitFor()
    await expectClean()
  })

  it('says what to do next where an address leads nowhere', async () => {
    const { page } = visitor
    visitor.expectRefusal(404, '/99')
    visitor.expectRefusal(404, '/providers/nobody')
    for (const place of ['datasets/99', 'repositories/99', 'providers/nobody', 'elsewhere']) {
      await page.evaluate((hash) => {
        location.hash = hash
      }, `#/${place}`)
      await page.locator('main > .empty').getByRole('link', { name: /^All / }).waitFor()
      await expectClean()
    }
  })

  it('is as clean in the dark and on a narrow screen', async () => {
    const { page } = visitor
    await page.getByRole('button', { name: 'Change to dark colours' }).click()
    await page.setViewportSize({ width: 360, height: 740 })
    for (const place of [
      '',
      'providers',
      'account',
      'datasets/2',
      'datasets/3?view=columns',
      'datasets/3?view=plot',
    ]) {
      await page.evaluate((hash) => {
        location.hash = hash
      }, `#/${place}`)
      await page.locator('main > .page :is(.grid-row, .u-over, .card, .dataset-item)').first().waitFor()
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(overflow, place).toBeLessThanOrEqual(0)
      await expectClean()
    }
    await page.getByRole('button', { name: 'Change to light colours' }).click()
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('names members, changes what they may do, and removes them', async () => {
    const { page } = visitor
    await page.evaluate(() => {
      location.hash = '#/repositories/1'
    })
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('link', { name: 'Members' }).click()
    await page.getByText('0 members').waitFor()
    const name = page.getByLabel('Name of an account')
    visitor.expectRefusal(400, '/members/')
    await name.fill('no name')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByText('The name of an account has').waitFor()
    await expectClean()
    await stage.account('grace')
    await name.fill('grace')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByText('1 member', { exact: true }).waitFor()
    await page.getByLabel('What grace may do').selectOption('Write')
    await page.getByText('grace may read and write now.').waitFor()
    expect(await (await stage.api('GET', '/repositories/1/members')).json()).toEqual([
      { account: 'grace', permission: 'Write' },
    ])
    await expectClean()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('0 members').waitFor()
    await expectClean()
  })

  it('replaces the key, shows the new one once and goes on with it', async () => {
    const { page } = visitor
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByText('Exported rows in').waitFor()
    await page.getByText('FRED', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Replace the key…' }).click()
    await page.getByRole('button', { name: 'Replace the key', exact: true }).click()
    const fresh = await page.getByTestId('new-key').textContent()
    await expectClean()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    expect((await stage.api('GET', '/account')).status).toBe(401)
    expect(await page.content()).not.toContain(fresh!)
    await page.getByText(`Your key ends in`).waitFor()
    await expectClean()
  })

  it('signs out, and leads on to the same address after the next sign-in', async () => {
    const { page } = visitor
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Your key').waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    expect(page.url()).toContain('#/account')
    await expectClean()
  })
})

function rowsOf(csv: string): string[] {
  return csv.trim().split('\n').slice(1)
}

/** Drops a file as a pointer would: the events that a browser sends, with the file in them. */
async function drop(page: Visitor['page'], selector: string, name: string, text: string): Promise<void> {
  await page.evaluate(
    ({ selector, name, text }) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([text], name, { type: 'text/csv' }))
      const target = document.querySelector(selector)!
      for (const type of ['dragenter', 'dragover', 'drop']) {
        target.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }))
      }
    },
    { selector, name, text },
  )
}
