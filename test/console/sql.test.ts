import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { signIn, withoutBrowser } from './support/browser.ts'
import { ROOT_KEY } from './support/stage.ts'
import { STATIONS } from './support/stations.ts'
import { walk } from './support/steps.ts'

describe.skipIf(withoutBrowser())('SQL by hand', () => {
  const walked = walk(async ({ stage, visitor }) => {
    await stage.api('POST', '/repositories', { name: 'Weather' })
    await stage.api('POST', '/datasets', { name: 'stations', repositoryId: 1 })
    await stage.upload('/datasets/1/data', 'text/csv', STATIONS)
    await stage.api('POST', '/repositories', { name: 'Open', private: false })
    await signIn(visitor, `${stage.server.url}/console/#/sql`, ROOT_KEY)
  })
  const statement = () => walked.visitor.page.getByLabel('Statement', { exact: true })

  it('completes tables, columns and functions', async () => {
    const { page } = walked.visitor
    await page.getByText('Nothing has been run yet').waitFor()
    await page.getByText('Tables and their columns').click()
    await page.getByText('"Weather".stations').click()
    await page.getByRole('listitem').getByText('temperature').waitFor()
    await walked.expectClean('sql-start')
    await page.getByText('Tables and their columns').click()
    await statement().pressSequentially('SELECT * FROM stat')
    await page.getByRole('option', { name: 'stations' }).click()
    expect(await statement().inputValue()).toBe('SELECT * FROM "Weather".stations')
    await statement().fill('SELECT  FROM stations')
    await statement().press('Home')
    for (let step = 0; step < 7; step += 1) await statement().press('ArrowRight')
    await statement().pressSequentially('temp')
    await page.getByRole('option', { name: 'temperature' }).waitFor()
    await walked.expectClean('sql-completion')
    await statement().press('Escape')
  })

  it('marks what is wrong where it stands', async () => {
    const { page } = walked.visitor
    walked.visitor.expectRefusal(400, '/sql')
    await statement().fill('SELECT temperatur FROM stations')
    await statement().press('Control+Enter')
    await page.getByRole('alert').getByText('temperatur').waitFor()
    const selected = () =>
      statement().evaluate((area: HTMLTextAreaElement) =>
        area.value.slice(area.selectionStart, area.selectionEnd),
      )
    await expect.poll(selected).toBe('temperatur')
    await walked.expectClean('sql-wrong')
  })

  it('shows the result as a table and a plot, and saves it as a file and as a dataset', async () => {
    const { page } = walked.visitor
    await statement().fill('SELECT station, count(*) AS days FROM stations GROUP BY station ORDER BY station')
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByText('3 rows, 2 columns').waitFor()
    await page.getByRole('gridcell', { name: 'Bergen' }).waitFor()
    await walked.expectClean('sql-result')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByLabel('Download').selectOption('Download as csv'),
    ])
    const saved = await readFile(await download.path(), 'utf8')
    // The same can be chosen once more.
    expect(await page.getByLabel('Download').inputValue()).toBe('')
    expect(saved).toBe('station,days\nBergen,133\n"Hell, i\'m",133\nOslo,134\n')
    await page.getByRole('tab', { name: 'Plot' }).click()
    await page.getByText('All 3 rows of the result.').waitFor()
    await walked.expectClean('sql-plot')
    await page.getByRole('button', { name: 'Save as dataset' }).click()
    await page.getByLabel('Name of the dataset').fill('days')
    const dialog = page.getByRole('dialog')
    const repository = dialog.getByLabel('Repository')
    const chosen = () => repository.evaluate((select: HTMLSelectElement) => select.selectedOptions[0]!.text)
    expect(await chosen()).toBe('Weather')
    await repository.selectOption('Open (public)')
    const save = dialog.getByRole('button', { name: 'Save' })
    expect(await save.isDisabled()).toBe(true)
    await walked.expectClean('sql-save')
    await dialog.getByLabel('Everybody with a key may read what is private now').check()
    expect(await save.isEnabled()).toBe(true)
    await repository.selectOption('Weather')
    await save.click()
    await page.getByRole('heading', { name: 'days', level: 1 }).waitFor()
    expect(await (await walked.stage.api('GET', '/datasets/2/data')).text()).toBe(saved)
  })

  it('keeps the statements of before', async () => {
    const { page } = walked.visitor
    await walked.go('sql')
    await page.getByLabel('Earlier statements').selectOption({ index: 1 })
    await page.getByRole('gridcell', { name: 'Bergen' }).waitFor()
    expect(page.url()).toContain('q=SELECT')
  })

  it('opens a dataset by its names', async () => {
    const { page } = walked.visitor
    await walked.go('d/Weather/stations')
    await page.getByRole('heading', { name: 'stations' }).waitFor()
    await page.getByRole('link', { name: 'Guide' }).waitFor()
    await walked.go('d/Weather/nothing')
    await page.getByText('There is no such page').waitFor()
    await walked.expectClean()
    await walked.go('sql')
    await statement().waitFor()
  })

  it('shows a view of a dataset as SQL, and what its query does', async () => {
    const { page } = walked.visitor
    await walked.go("datasets/1?filter=station eq 'Oslo'&panel=filter")
    await page.getByRole('complementary').getByRole('button', { name: 'Show as SQL' }).click()
    await page.getByText(/^\d+ rows, \d+ columns$/).waitFor()
    expect(await statement().inputValue()).toContain('FROM "Weather"."stations" WHERE "station" =')
    await walked.go("datasets/1?filter=station eq 'Oslo'")
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Why is this slow?' }).click()
    await page
      .getByRole('dialog')
      .getByText(/^Reading takes/)
      .waitFor()
    await page.getByRole('dialog').getByText('read of 1 of 1 part, 1 of 1 row group.').waitFor()
    await page
      .getByRole('dialog')
      .getByRole('cell', { name: /read parquet/ })
      .waitFor()
    await walked.expectClean('sql-explained')
  })
})
