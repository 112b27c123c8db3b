import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Visitor, visit, withoutBrowser } from './support/browser.ts'
import { openStage, ROOT_KEY, type Stage } from './support/stage.ts'

const FLIGHTS = fileURLToPath(
  new URL('../../node_modules/vega-datasets/data/flights-3m.parquet', import.meta.url),
)
const ROWS = 3_000_000

describe.skipIf(withoutBrowser())('a table of 3,000,000 rows', () => {
  let stage: Stage
  let visitor: Visitor

  beforeAll(async () => {
    stage = await openStage({})
    const repository = await stage.server.engine.createRepository({ name: 'Large' })
    stage.server.publish(repository.id)
    const { id } = await stage.server.engine.createDataset({ repositoryId: repository.id, name: 'flights' })
    await (await stage.server.engine.dataset(id)).replace({ body: { file: FLIGHTS }, format: 'parquet' })
    visitor = await visit(stage.server.url)
    await visitor.page.goto(`${stage.server.url}/console/`)
    await visitor.page.evaluate((key) => sessionStorage.setItem('parquetry.key', key), ROOT_KEY)
    await visitor.page.goto(`${stage.server.url}/console/?#/datasets/${id}`)
    await visitor.page.getByRole('gridcell').first().waitFor()
  }, 120_000)

  afterAll(async () => {
    await visitor?.[Symbol.asyncDispose]()
    await stage?.[Symbol.asyncDispose]()
  })

  /** The row at this number as the service has it, as csv fields. */
  async function rowAt(number: number, more = ''): Promise<string[]> {
    const [{ id }] = (await (await stage.api('GET', '/datasets')).json()) as [{ id: number }]
    const answer = await stage.api('GET', `/datasets/${id}/data?$skip=${number - 1}&$top=1${more}`)
    return (await answer.text()).split('\n')[1]!.split(',')
  }

  async function shownRow(number: number): Promise<string[]> {
    const row = visitor.page.locator(`[aria-rowindex="${number + 1}"]`)
    await row.getByRole('gridcell').first().waitFor()
    await expect.poll(() => row.locator('.skeleton').count()).toBe(0)
    return row.getByRole('gridcell').allTextContents()
  }

  it('scrolls to its very end by the scroll bar', async () => {
    const { page } = visitor
    await page.getByRole('grid').evaluate((grid) => grid.scrollTo(0, grid.scrollHeight))
    expect(await shownRow(ROWS)).toEqual(await rowAt(ROWS))
    expect(visitor.complaints).toEqual([])
  })

  it('scrolls row by row where an element could not be high enough', async () => {
    const { page } = visitor
    const grid = page.getByRole('grid')
    await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2))
    const top = () =>
      page
        .locator('.grid-row')
        .evaluateAll((rows) => Math.min(...rows.map((row) => Number(row.getAttribute('aria-rowindex')))))
    await expect.poll(async () => Math.round((100 * (await top())) / ROWS), { timeout: 30_000 }).toBe(50)
    await page.waitForTimeout(400)
    const before = await top()
    await grid.hover()
    await page.mouse.wheel(0, 300)
    await expect.poll(top, { timeout: 30_000 }).toBe(before + 10)
    await page.waitForTimeout(400)
    // Once at rest, the bar is put in its place again, and the rows stay where they are.
    expect(await top()).toBe(before + 10)
    expect(await shownRow(before + 12)).toEqual(await rowAt(before + 12))
  })

  it('goes to the last row and back by keys', async () => {
    const { page } = visitor
    const grid = page.getByRole('grid')
    await grid.focus()
    await grid.press('Control+Home')
    await grid.press('Control+End')
    expect(await shownRow(ROWS)).toEqual(await rowAt(ROWS))
    await grid.press('PageUp')
    await grid.press('Control+Home')
    expect(await shownRow(1)).toEqual(await rowAt(1))
    expect(visitor.complaints).toEqual([])
  })

  it('links to a cell of this version, also where the rows are sorted', async () => {
    const { page } = visitor
    await page.evaluate(() => {
      navigator.clipboard.writeText = async (text) => void Object.assign(window, { copied: text })
    })
    const sort = page.getByRole('button', { name: /^distance/ })
    await sort.click()
    const first = await rowAt(1, '&$orderby=distance')
    await expect.poll(() => shownRow(1)).toEqual(first)
    const grid = page.getByRole('grid')
    await grid.press('Control+Home')
    await grid.press('Control+End')
    const last = await shownRow(ROWS)
    await page.getByRole('button', { name: 'Link', exact: true }).click()
    await page.getByText('Link copied.').waitFor()
    const link = await page.evaluate(() => (window as unknown as { copied: string }).copied)
    expect(link).toMatch(new RegExp(`orderby=distance&version=1&row=${ROWS}&at=[a-z_]+$`))
    await page.goto('about:blank')
    await page.goto(link)
    expect(await shownRow(ROWS)).toEqual(last)
    await page.locator('.cell-bar-place').getByText('row 3,000,000').waitFor()
    await page.getByText('You see version 1').waitFor()
    expect(await page.getByRole('button', { name: 'Restore this version' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Back to the current rows' }).click()
    await sort.click()
    await sort.click()
    await expect.poll(() => shownRow(1)).toEqual(await rowAt(1))
    expect(visitor.complaints).toEqual([])
  })

  it('keeps few elements, however far it has gone', async () => {
    expect(await visitor.page.locator('.grid-row').count()).toBeLessThan(80)
  })

  it('leaves a download to the browser, which cancels it', async () => {
    const { page } = visitor
    await page.getByRole('button', { name: 'Download' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: /^JSON/ }).check()
    const [download] = await Promise.all([
      page.waitForEvent('download', { timeout: 25_000 }),
      dialog.getByRole('button', { name: 'Download' }).click(),
    ])
    await download.cancel()
    expect(await download.failure()).toBe('canceled')
    await dialog.waitFor({ state: 'hidden' })
    expect(visitor.complaints).toEqual([])
  })

  it('downloads all of it', async () => {
    const { page } = visitor
    await page.getByRole('button', { name: 'Download' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: /^Parquet/ }).check()
    const [download] = await Promise.all([
      page.waitForEvent('download', { timeout: 25_000 }),
      dialog.getByRole('button', { name: 'Download' }).click(),
    ])
    const saved = await readFile(await download.path())
    expect(saved.subarray(-4).toString()).toBe('PAR1')
    expect(saved.length).toBeGreaterThan(5_000_000)
  })
})
