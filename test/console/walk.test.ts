import { readFile } from 'node:fs/promises'
import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import { withoutBrowser } from './support/browser.ts'
import { ROOT_KEY } from './support/stage.ts'
import { drop, rowsOf, STATIONS } from './support/stations.ts'
import { walk } from './support/steps.ts'

describe.skipIf(withoutBrowser())('from a file to a plot', () => {
  const walked = walk()

  it('is interactive within a second, under a strict policy', async () => {
    const { page } = walked.visitor
    const response = await page.goto(`${walked.stage.server.url}/console/`)
    const policy = response!.headers()['content-security-policy']!
    expect(policy).not.toContain('unsafe')
    await page.getByLabel('Your key').waitFor()
    const times: number[] = []
    for (let round = 0; round < 5; round += 1) {
      await page.reload()
      await page.getByLabel('Your key').waitFor()
      times.push(
        await page.evaluate(() => performance.getEntriesByName('parquetry:interactive')[0]!.startTime),
      )
    }
    // A busy machine makes some of them slow, but never one fast.
    expect(Math.min(...times)).toBeLessThan(1_000)
    await walked.expectClean()
  })

  it('refuses a wrong key, takes the right one and does not remember it unasked', async () => {
    const { page } = walked.visitor
    walked.visitor.expectRefusal(401, '/account')
    await page.getByLabel('Your key').fill('not-the-key')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This key is not known here.').waitFor()
    await walked.expectClean()
    await page.getByLabel('Your key').fill(ROOT_KEY)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'No repositories yet' }).waitFor()
    expect(await page.evaluate(() => Object.values({ ...localStorage }).join())).not.toContain(ROOT_KEY)
    expect(await page.context().cookies()).toEqual([])
    await walked.expectClean()
  })

  it('makes a private repository', async () => {
    const { page } = walked.visitor
    await page.getByRole('button', { name: 'New repository' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'New repository' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Weather')
    await dialog.getByRole('checkbox').check()
    await walked.expectClean()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Weather private' }).waitFor()
    await walked.expectClean()
  })

  it('shows a file before it is stored, and the row and column of what is wrong with it', async () => {
    const { page } = walked.visitor
    await page.getByRole('link', { name: 'New dataset' }).click()
    const chooser = page.locator('input[type=file]')
    const broken = STATIONS.replace('2024-01-03', '2024-01-33')
    await chooser.setInputFiles({ name: 'broken.csv', mimeType: 'text/csv', buffer: Buffer.from(broken) })
    await page.getByLabel('Type of day').selectOption('date')
    walked.visitor.expectRefusal(400, '/data')
    await page.getByRole('button', { name: 'Create the dataset' }).click()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toMatch(/row 3.*day/is)
    const left = (await (await walked.stage.api('GET', '/datasets')).json()) as unknown[]
    expect(left).toEqual([])
    await walked.expectClean()
  })

  it('takes a dropped file with the types that it found', async () => {
    const { page } = walked.visitor
    await drop(page, '.drop', 'stations.csv', STATIONS)
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
    await walked.expectClean()
    await page.getByRole('button', { name: 'Create the dataset' }).click()
    await page.getByRole('heading', { name: 'stations', level: 1 }).waitFor()
    await page.getByRole('gridcell', { name: '2024-01-01' }).waitFor()
    await walked.expectClean()
  })

  it('marks where a filter is wrong, and filters once it is mended', async () => {
    const { page } = walked.visitor
    walked.visitor.expectRefusal(400, '/data?')
    const filter = page.getByLabel('Filter', { exact: true })
    await filter.fill("station eq 'Oslo' and temperatur gt 3")
    await filter.press('Enter')
    await page.getByText('Filter contains invalid column(s): temperatur.').waitFor()
    expect(await page.locator('.filter-mirror .is-wrong').textContent()).toBe('temperatur')
    await walked.expectClean()

    await filter.fill("station eq 'Oslo' and temperature gt gt 3")
    await filter.press('Enter')
    await page.getByText('At position 41').waitFor()
    expect(await page.locator('.filter-mirror .is-wrong').textContent()).toBe('3')

    await filter.fill("station eq 'Oslo' and temperature gt 3")
    await filter.press('Enter')
    const expected = rowsOf(STATIONS).filter((row) => row.includes('"Oslo"') && Number(row.split(',')[3]) > 3)
    await page.getByTestId('row-count').getByText(`${expected.length} of 400 rows`).waitFor()
    expect(page.url()).toContain(encodeURIComponent("station eq 'Oslo' and temperature gt 3"))
    await walked.expectClean()
  })

  it('completes columns, functions, operators and values by keyboard', async () => {
    const { page } = walked.visitor
    const filter = page.getByLabel('Filter', { exact: true })
    await filter.fill('')
    await filter.pressSequentially('stat')
    await page.getByRole('option', { name: 'station' }).waitFor()
    await walked.expectClean()
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
    const { page } = walked.visitor
    await page.locator('.chip', { hasText: 'Filter' }).click()
    expect(await page.getByLabel('Value').inputValue()).toBe('Bergen')
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByLabel('Column', { exact: true }).last().selectOption('Rain (mm)')
    await page.getByLabel('Comparison').last().selectOption('ge')
    await page.getByLabel('Value').last().fill('5')
    await page.getByLabel('Value').last().press('Tab')
    await walked.expectClean()
    const filter = page.getByLabel('Filter', { exact: true })
    await expect.poll(() => filter.inputValue()).toBe(`station eq 'Bergen' and "Rain (mm)" ge 5`)
    await page.locator('.chip', { hasText: '2 conditions' }).click()
    await page.locator('.panel').waitFor({ state: 'hidden' })
  })

  it('sorts by a heading and moves by keys', async () => {
    const { page } = walked.visitor
    const heading = page.getByRole('columnheader', { name: 'temperature' })
    await heading.getByRole('button').click()
    await expect.poll(() => heading.getAttribute('aria-sort')).toBe('ascending')
    await heading.getByRole('button').click()
    await expect.poll(() => heading.getAttribute('aria-sort')).toBe('descending')
    const grid = page.getByRole('grid')
    await expect.poll(() => grid.getAttribute('aria-busy')).toBe('false')
    await grid.focus()
    // Rows in their new order that come only now bring the grid back to its start.
    const end = async () => {
      await grid.press('Control+End')
      return page.getByText(/^row \d+$/).isVisible()
    }
    await expect.poll(end).toBe(true)
    await grid.press('Control+Home')
    await page.getByText('row 1', { exact: true }).waitFor()
    await walked.expectClean()
  })

  it('downloads what is seen, byte for byte, in every format', async () => {
    const { page } = walked.visitor
    const formats = {
      CSV: 'csv',
      'CSV, European': 'csv',
      Excel: 'xlsx',
      Parquet: 'parquet',
      JSON: 'json',
      NDJSON: 'ndjson',
      TSV: 'tsv',
      Arrow: 'arrow',
      'Arrow file': 'arrow-file',
    }
    for (const [label, format] of Object.entries(formats)) {
      const european = label === 'CSV, European'
      await page.getByRole('button', { name: 'Download' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('radio', { name: new RegExp(`^${label} (?!file)[^,]`) }).check()
      if (european) await walked.expectClean()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name: 'Download' }).click(),
      ])
      expect(download.suggestedFilename()).toBe(`stations.${format.replace('-file', '')}`)
      const query = new URLSearchParams({
        $filter: `station eq 'Bergen' and "Rain (mm)" ge 5`,
        $orderby: 'temperature desc',
        $format: format,
        ...(european && { $bom: 'true', $delimiter: ';', $decimal: ',' }),
      })
      const [{ id }] = (await (await walked.stage.api('GET', '/datasets')).json()) as [{ id: number }]
      const direct = await (await walked.stage.api('GET', `/datasets/${id}/data?${query}`)).arrayBuffer()
      const saved = await readFile(await download.path())
      expect(saved.equals(Buffer.from(direct)), label).toBe(true)
      await dialog.waitFor({ state: 'hidden' })
    }
  })

  it('hides, finds and moves columns, and downloads those that are shown', async () => {
    const { page } = walked.visitor
    const headings = () => page.locator('.grid-head .grid-name').allTextContents()
    await page.locator('.chip', { hasText: 'Columns' }).click()
    const dialog = page.getByRole('complementary', { name: 'Columns: form' })
    await dialog.getByRole('checkbox', { name: 'sunny' }).uncheck()
    await dialog.getByRole('button', { name: 'Move temperature to the left' }).click()
    await dialog.getByLabel('Find a column').fill('mm')
    await dialog.getByText('4 of 5 shown, 1 found').waitFor()
    await walked.expectClean()
    await page.locator('.chip', { hasText: '1 hidden' }).waitFor()
    await expect.poll(headings, { timeout: 20_000 }).toEqual(['day', 'station', 'temperature', 'Rain (mm)'])
    const cells = await page.locator('.grid-row').first().getByRole('gridcell').allTextContents()
    expect(cells[1]).toBe('Bergen')
    await page.reload()
    await expect.poll(headings, { timeout: 20_000 }).toEqual(['day', 'station', 'temperature', 'Rain (mm)'])
    await dialog.getByRole('button', { name: 'Show all' }).click()
    await dialog.getByRole('button', { name: 'Close the form' }).click()
    await expect
      .poll(headings, { timeout: 20_000 })
      .toEqual(['day', 'station', 'Rain (mm)', 'temperature', 'sunny'])
  })

  it('says how to read it in each program, with the address of the view filled in', async () => {
    const { page } = walked.visitor
    await page.getByRole('tab', { name: 'Connect' }).click()
    const text = (title: string) => page.getByRole('region', { name: `Text for ${title}` }).textContent()
    await page.getByRole('heading', { name: 'curl' }).waitFor()
    const filter = 'station%20eq%20%27Bergen%27%20and%20%22Rain%20(mm)%22%20ge%205'
    expect(await text('curl')).toContain(filter)
    expect(await text('curl')).toContain('curl --fail-with-body --user "$PARQUETRY_KEY:"')
    expect(await text('Python, pandas')).toContain('pd.read_parquet')
    expect(await page.locator('.snippet').count()).toBe(10)
    await walked.expectClean('connect')
    await page.getByRole('checkbox', { name: /that you see/ }).uncheck()
    expect(await text('curl')).not.toContain('$filter')
    await page.getByRole('tab', { name: 'Table' }).click()
    await page.getByRole('gridcell').first().waitFor()
  })

  it('changes a cell by keys, which makes a version, and undoes that', async () => {
    const { page } = walked.visitor
    const [{ id }] = (await (await walked.stage.api('GET', '/datasets')).json()) as [{ id: number }]
    const rows = async () => (await walked.stage.api('GET', `/datasets/${id}/data`)).text()
    const before = await rows()
    const changed = page.getByRole('gridcell', { name: '99.5', exact: true })
    await page.locator('.grid-row').first().getByRole('gridcell').nth(3).click()
    await page.getByRole('grid').press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Change temperature in row 1' })
    await dialog.getByLabel('temperature', { exact: true }).fill('much')
    walked.visitor.expectRefusal(400, '/data?')
    await dialog.getByRole('button', { name: 'Change' }).click()
    await dialog.getByRole('alert').getByText('much').waitFor()
    await dialog.getByLabel('temperature', { exact: true }).fill('99.5')
    await walked.expectClean('dialog-cell')
    await dialog.getByRole('button', { name: 'Change' }).click()
    await page.getByText('1 cell changed.').waitFor()
    await changed.waitFor()
    expect((await rows()).split('\n').filter((row) => !before.includes(row))).toHaveLength(1)
    await walked.expectClean('toast-cell')
    await page.getByRole('button', { name: 'Undo' }).click()
    await changed.waitFor({ state: 'detached' })
    expect(await rows()).toBe(before)
  })

  it('writes down what is known about a dataset and its columns', async () => {
    const { page } = walked.visitor
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Name and description' }).click()
    await page.getByRole('textbox', { name: 'Description' }).fill('Rain in **Norway**.\n\n<b>As it is</b>')
    await page.getByLabel('Licence').fill('CC-BY-4.0')
    await page.getByLabel('Keywords').fill('rain, Norway')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.locator('.markdown strong', { hasText: 'Norway' }).waitFor()
    await page.getByText('<b>As it is</b>').waitFor()
    await page.getByRole('tab', { name: 'Columns' }).click()
    await page.getByRole('button', { name: 'Describe Rain (mm)' }).click()
    await page.getByLabel('Unit').fill('mm')
    await walked.expectClean('dialog-column')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('double, mm').waitFor()
    const [dataset] = (await (await walked.stage.api('GET', '/datasets')).json()) as [object]
    expect(dataset).toMatchObject({ license: 'CC-BY-4.0', keywords: ['rain', 'Norway'] })
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.getByText('double', { exact: true }).first().waitFor()
    await page.getByRole('tab', { name: 'Table' }).click()
  })

  it('profiles the columns', async () => {
    const { page } = walked.visitor
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await page.getByRole('tab', { name: 'Columns' }).click()
    const card = page.locator('.column-card', { has: page.getByRole('heading', { name: 'Rain (mm)' }) })
    await card.getByText('58').waitFor()
    expect(await card.locator('dl').textContent()).toMatch(
      /^nulls58distinct11min0medianabout 5mean4.974max10$/,
    )
    await walked.expectClean('columns')
    await page.getByRole('button', { name: '2024-01-01 to 2024-01-21: 20 rows, filter by this' }).click()
    await page.getByTestId('row-count').getByText('20 of 400 rows').waitFor()
    await page.getByRole('button', { name: 'Clear the filter' }).click()
  })

  it('plots, by an address that can be sent, and saves the picture', async () => {
    const { page } = walked.visitor
    await page.getByRole('tab', { name: 'Plot' }).click()
    await page.locator('.u-over').waitFor()
    await page.getByLabel('x axis').selectOption('station')
    await page.getByLabel('y axis').selectOption('temperature')
    await page.getByText('Calculated over all 400 rows, mean by value.').waitFor()
    await page.locator('.u-over').waitFor()
    expect(page.url()).toContain('view=plot&x=station&y=temperature')
    await walked.expectClean()
    for (const reducedMotion of ['no-preference', 'reduce'] as const) {
      await page.emulateMedia({ reducedMotion, colorScheme: 'light' })
      await page.reload()
      await page.locator('.u-over').waitFor()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Save picture' }).click(),
      ])
      expect(download.suggestedFilename()).toMatch(/\.png$/)
      const { data } = PNG.sync.read(await readFile(await download.path()))
      const colours = new Set(data.toString('hex').match(/.{8}/g))
      // The first series, the lines of the axes, and the background.
      for (const colour of ['14604eff', 'dfe3deff', 'ffffffff']) expect(colours).toContain(colour)
    }
    await page.emulateMedia({ reducedMotion: null, colorScheme: null })
  })

  it('plots sums over all rows, calculated by the service', async () => {
    const { page } = walked.visitor
    await page.evaluate(() => {
      location.hash = '#/datasets/2?view=plot&x=station&y=temperature&of=sum'
    })
    await page.getByText('Calculated over all 400 rows, sum by value.').waitFor()
    await page.getByText('The numbers').click()
    const lines = rowsOf(STATIONS).filter((line) => line.includes('"Oslo"'))
    const sum = lines.reduce((total, line) => total + Number(line.split(',')[3]), 0)
    const row = page.locator('.numbers tr', { hasText: 'Oslo' })
    expect(await row.locator('td').last().textContent()).toBe(sum.toLocaleString('en'))
    await walked.expectClean()
  })
})
