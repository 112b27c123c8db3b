import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { visit, withoutBrowser } from './support/browser.ts'
import { expectSound, walkPages } from './support/pages.ts'
import { ROOT_KEY } from './support/stage.ts'

describe.skipIf(withoutBrowser())('every page', () => {
  const walked = walkPages()

  it(
    'has no fault that axe finds, and one left edge, in light colours at 1280 pixels',
    () => expectSound(walked, 'light', 1280),
    180_000,
  )

  it('shows the table in the first half of a phone', async () => {
    const { page } = walked.visitor
    await page.setViewportSize({ width: 390, height: 844 })
    await walked.go('datasets/1')
    await page.getByRole('gridcell').first().waitFor()
    expect((await page.getByRole('grid').boundingBox())!.y).toBeLessThan(422)
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('has no fault in any dialog, and leaves it on Escape', async () => {
    const { page } = walked.visitor
    const check = async (name: string) => {
      await page.getByRole('dialog').waitFor()
      await walked.expectClean(`dialog-${name}`)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    }
    await page.getByRole('button', { name: 'Download' }).click()
    await check('download')
    for (const item of ['Name and description', 'Delete the dataset']) {
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('button', { name: item }).click()
      await check(item)
    }
    await walked.go('repositories/1')
    for (const item of ['Name, description, privacy', 'Delete the repository']) {
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('button', { name: item }).click()
      await check(item)
    }
    await walked.go('account')
    for (const item of ['Replace the key…', 'Save a key…']) {
      await page.getByRole('button', { name: item }).click()
      await check(item)
    }
    await walked.go('')
    await page.getByRole('button', { name: 'New repository' }).click()
    await check('new-repository')
  })

  it('searches on /, filters on f, lists the keys on ?, and goes on g', async () => {
    const { page } = walked.visitor
    await walked.go('datasets/1')
    await page.getByRole('gridcell').first().waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await walked.expectClean('dialog-keys')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const address = new URL(page.url()).hash.slice(2)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await walked.go('sql')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await walked.go(address)
    await page.getByTestId('row-count').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('oslo')
    await page.getByTestId('row-count').getByText('34 of 100 rows').waitFor()
    expect(page.url()).toContain('search=oslo')
    await page.getByLabel('Search the rows').fill('')
    await page.getByTestId('row-count').getByText('all rows').waitFor()
    await page.getByLabel('Search the rows').blur()
    await page.keyboard.press('f')
    await page.keyboard.type('sunny eq true')
    // Enter takes what an input method offers, and applies nothing.
    const composed = { key: 'Enter', isComposing: true, bubbles: true }
    await page.getByLabel('Filter', { exact: true }).dispatchEvent('keydown', composed)
    expect(page.url()).not.toContain('sunny')
    await page.keyboard.press('Enter')
    await page.getByTestId('row-count').getByText('50 of 100 rows').waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('g')
    await page.keyboard.press('u')
    await page.getByRole('heading', { name: 'New dataset' }).waitFor()
  })

  it('takes cells that are pasted from a spreadsheet, into a private repository of its own', async () => {
    const { page } = walked.visitor
    await walked.go('')
    await page.getByText('paste cells from Excel').waitFor()
    await page.evaluate(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', 'town\tpeople\nOslo\t700000\nHamar\t32000\n')
      document.body.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
      )
    })
    await page.getByText('2 columns, 2 rows.').waitFor()
    await page.getByLabel('Name of the dataset').fill('towns')
    await page.getByLabel('Repository').selectOption('a new private one, “My data”')
    await walked.expectClean('upload-pasted')
    // The repository that a refused attempt has made is taken by the next one.
    walked.visitor.expectRefusal(400, '/data')
    await page.getByLabel('Type of town').selectOption('integer')
    await page.getByRole('button', { name: 'Create the dataset' }).click()
    await page.getByText('"Oslo" is not').first().waitFor()
    await page.getByLabel('Type of town').selectOption('string')
    await page.getByRole('button', { name: 'Create the dataset' }).click()
    await page.getByRole('gridcell', { name: 'Hamar' }).waitFor()
    expect(await (await walked.stage.api('GET', '/repositories/2')).json()).toMatchObject({
      name: 'My data',
      private: true,
    })
    const all = await (await walked.stage.api('GET', '/repositories')).json()
    expect(all.filter(({ name }: { name: string }) => name === 'My data')).toHaveLength(1)
  })

  it('goes by keys alone from a file through a filter and a saved query to a link that needs no key', async () => {
    const { page } = walked.visitor
    const { keyboard } = page
    const reach = async (target: Locator) => {
      const isFocused = () => target.evaluate((it) => it === document.activeElement)
      await target.waitFor({ state: 'attached' })
      for (let tabs = 0; !(await isFocused()); tabs += 1) {
        expect(tabs, `${target} is reached by Tab`).toBeLessThan(60)
        await keyboard.press('Tab')
      }
    }
    const press = async (name: string, key = 'Enter') => {
      await reach(page.getByRole('button', { name, exact: true }))
      await keyboard.press(key)
    }
    const chosen = page.waitForEvent('filechooser')
    await walked.go('')
    await reach(page.locator('input[type=file]'))
    await keyboard.press('g')
    await keyboard.press('u')
    await page.getByRole('heading', { name: 'New dataset' }).waitFor()
    await reach(page.locator('input[type=file]'))
    await keyboard.press('Enter')
    const chooser = await chosen
    const rows = 'town,people\nOslo,700000\nHamar,32000\nBergen,290000\n'
    await chooser.setFiles({ name: 'places.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) })
    await page.getByText('2 columns, 3 rows.').waitFor()
    await reach(page.getByLabel('Name of the dataset'))
    await keyboard.type('places by keys')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'places by keys', level: 1 }).waitFor()
    await page.getByRole('gridcell', { name: 'Hamar' }).waitFor()
    await keyboard.press('f')
    await keyboard.type('people gt 100000')
    await keyboard.press('Enter')
    await page.getByTestId('row-count').getByText('2 of 3 rows').waitFor()
    await keyboard.press('Escape')
    await press('Filter 1 condition')
    await reach(page.getByRole('button', { name: 'Close the form' }))
    await keyboard.press('Escape')
    expect(await page.locator(':focus').textContent()).toContain('1 condition')
    await keyboard.press('Enter')
    await press('Show as SQL', 'Space')
    await page.getByText('2 rows, 2 columns').waitFor()
    await press('Save as dataset')
    const named = page.getByRole('dialog').getByLabel('Name of the dataset')
    await expect.poll(() => named.evaluate((it) => it === document.activeElement)).toBe(true)
    await keyboard.type('large by keys')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'large by keys', level: 1 }).waitFor()
    await reach(page.getByRole('tab', { name: 'Table' }))
    await keyboard.press('ArrowLeft')
    await press('Make a link')
    await page.getByTestId('link').waitFor()
    expect(await page.locator(':focus').textContent()).toBe('Make a link')
    const answer = await fetch((await page.getByTestId('link').textContent())!)
    expect(await answer.text()).toBe('town,people\nOslo,700000\nBergen,290000\n')
    await walked.expectClean('share')
    await page.setViewportSize({ width: 390, height: 844 })
    await walked.go('account')
    const link = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('button', { name: /End the link/ }) })
    expect((await link.locator('strong').boundingBox())!.width).toBeGreaterThan(100)
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('offers no box for a key where a provider takes none', async () => {
    const { page } = walked.visitor
    await walked.go('providers/ecb')
    await page.getByRole('link', { name: 'Website' }).waitFor()
    expect(await page.getByRole('button', { name: / key/ }).count()).toBe(0)
    await walked.go('account')
    await page.getByRole('button', { name: 'Save a key…' }).click()
    const choices = await page.getByLabel('Provider').locator('option').allTextContents()
    expect(choices.some((name) => name.includes('FRED'))).toBe(true)
    expect(choices.filter((name) => /World Bank|ECB|Central Bank/.test(name))).toEqual([])
    await page.keyboard.press('Escape')
  })

  it('breaks very long names, and leaves the search among columns its height', async () => {
    const { page } = walked.visitor
    await page.setViewportSize({ width: 390, height: 844 })
    const name = 'n'.repeat(255)
    const description = 'd'.repeat(600)
    const made = await walked.stage.api('POST', '/repositories', { name, description, private: true })
    const { id } = (await made.json()) as { id: number }
    for (const place of ['', `repositories/${id}/members`, 'account']) {
      await walked.go(place)
      await page.locator('main .loading').first().waitFor({ state: 'detached' })
      if (place === 'account') await page.getByLabel('Where', { exact: true }).selectOption('only in some')
      const width = () => page.evaluate(() => document.documentElement.scrollWidth)
      expect(await width(), place).toBeLessThanOrEqual(390)
    }
    await walked.stage.api('DELETE', `/repositories/${id}`)
    const wide = await walked.stage.api('POST', '/datasets', { name: 'wide', repositoryId: 1 })
    const place = `/datasets/${((await wide.json()) as { id: number }).id}`
    const columns = Array.from({ length: 200 }, (_, at) => `c${at}`)
    await walked.stage.upload(`${place}/data`, 'text/csv', `${columns}\n${columns}\n`)
    await walked.go(`${place.slice(1)}?panel=columns`)
    const box = await page.getByRole('searchbox', { name: 'Find a column' }).boundingBox()
    expect(box!.height).toBeGreaterThan(30)
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('keeps numbers along a plot apart, and says why it can not draw one', async () => {
    const { page } = walked.visitor
    const made = await walked.stage.api('POST', '/datasets', { name: 'far', repositoryId: 1 })
    const { id } = (await made.json()) as { id: number }
    const lines = Array.from(
      { length: 500 },
      (_, at) => `${at * 8_000},${at % 2 ? '-' : ''}1.${100 + at}e308`,
    )
    await walked.stage.upload(`/datasets/${id}/data`, 'text/csv', `n,x\n${lines.join('\n')}\n`)
    await page.evaluate(() => {
      const drawn: { text: string; x: number; y: number; width: number }[] = []
      Object.assign(window, { drawn })
      const { fillText } = CanvasRenderingContext2D.prototype
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        drawn.push({ text, x, y, width: this.measureText(text).width })
        fillText.call(this, text, x, y)
      }
    })
    await walked.go(`datasets/${id}?view=plot&x=n&y=%23`)
    await expect.poll(() => page.evaluate('drawn.some(({ text }) => text === "4,000,000")')).toBe(true)
    const gaps = await page.evaluate(() => {
      const all = (window as unknown as { drawn: { text: string; x: number; y: number; width: number }[] })
        .drawn
      const { y } = all.findLast(({ text }) => text === '4,000,000')!
      const line = all.filter((one) => one.y === y).sort((a, b) => a.x - b.x)
      return line.slice(1).map(({ x, width }, at) => x - line[at]!.x - (width + line[at]!.width) / 2)
    })
    expect(Math.min(...gaps)).toBeGreaterThan(4)
    await walked.go(`datasets/${id}?view=plot&x=x&y=n&of=mean`)
    await page.getByRole('alert').getByText('The values of x are too far apart for bins.').waitFor()
    walked.visitor.expectRefusal(400, '/data')
    await walked.go(`datasets/${id}?view=plot&x=n&y=x&filter=nope%20eq%201`)
    await page.getByRole('alert').getByText('invalid column(s): nope').waitFor()
    expect(await page.getByRole('alert').count()).toBe(1)
  })

  it('is signed in in a second tab, and signs out of both', async () => {
    const { page } = walked.visitor
    await using second = await visit(walked.stage.server.url)
    const tab = await page.context().newPage()
    await tab.goto(`${walked.stage.server.url}/console/#/account`)
    await tab.getByText('Your key ends in').waitFor()
    await tab.getByRole('button', { name: 'Sign out' }).click()
    await tab.getByLabel('Your key').waitFor()
    await page.getByLabel('Your key').waitFor()
    // Another profile, where the key is remembered, knows it after its tab has closed.
    await second.page.goto(`${walked.stage.server.url}/console/`)
    await second.page.getByLabel('Your key').fill(ROOT_KEY)
    await second.page.getByRole('checkbox', { name: /Remember me/ }).check()
    await second.page.getByRole('button', { name: 'Sign in' }).click()
    await second.page.getByRole('heading', { name: 'Data', level: 1 }).waitFor()
    const later = await second.page.context().newPage()
    await second.page.close()
    await later.goto(`${walked.stage.server.url}/console/`)
    await later.getByRole('heading', { name: 'Data', level: 1 }).waitFor()
  })
})
