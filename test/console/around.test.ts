import { describe, expect, it } from 'vitest'
import { signIn, withoutBrowser } from './support/browser.ts'
import { ROOT_KEY } from './support/stage.ts'
import { STATIONS } from './support/stations.ts'
import { walk } from './support/steps.ts'

describe.skipIf(withoutBrowser())('providers, members and accounts', () => {
  const walked = walk(async ({ stage, visitor }) => {
    await stage.api('POST', '/repositories', { name: 'Weather', private: true })
    await stage.api('POST', '/datasets', {
      name: 'stations',
      repositoryId: 1,
      description: `Observed at stations; see https://example.org/${'stations_'.repeat(30)}`,
    })
    await stage.upload('/datasets/1/data', 'text/csv', STATIONS)
    await signIn(visitor, `${stage.server.url}/console/`, ROOT_KEY)
  })

  it('says what to do where the code of a page is gone, as after an update of the server', async () => {
    const { page } = walked.visitor
    walked.visitor.expectRefusal(404, '/assets/upload-page')
    await page.route('**/assets/upload-page-*', (route) => route.fulfill({ status: 404 }))
    await walked.go('upload')
    await page.getByText('Reload the window: the server may have been updated.').waitFor()
    await page.unroute('**/assets/upload-page-*')
    await page.reload()
    await page.getByText('Drop a file here').waitFor()
  })

  it('browses a provider after a key is saved, plots a series and saves it', async () => {
    const { page } = walked.visitor
    walked.visitor.expectRefusal(400, '/providers/fred/browse')
    await page.getByRole('link', { name: 'Providers' }).click()
    await page.getByLabel('Find a provider').fill('st. louis')
    await page.getByRole('link', { name: /FRED/ }).waitFor()
    await walked.expectClean()
    await page.getByRole('link', { name: /FRED/ }).click()
    await page.getByRole('heading', { name: 'FRED needs a key' }).waitFor()
    await page.locator('.empty').getByRole('button', { name: 'Use your own key' }).click()
    await page.getByLabel('Key', { exact: true }).fill('abcdefghijklmnopqrstuvwxyz123456')
    await walked.expectClean()
    await page.getByRole('button', { name: 'Save', exact: true }).click()

    await page.locator('summary', { hasText: 'Population' }).click()
    await page.getByRole('link', { name: /POPTHM/ }).waitFor()
    await page.getByText(/requests left, per/).waitFor()
    await walked.expectClean()
    await page.getByRole('link', { name: /POPTHM/ }).click()
    await page.locator('.u-over').waitFor()
    await walked.expectClean()

    await page.getByRole('button', { name: 'Save as dataset' }).click()
    await page.getByLabel('Name of the dataset').fill('population')
    await walked.expectClean()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'population', level: 1 }).waitFor()
    await page.getByText('24 rows').first().waitFor()
    await walked.expectClean()
  })

  it('finds datasets by the names of their columns, and series that were seen', async () => {
    const { page } = walked.visitor
    await page.getByRole('link', { name: 'Data', exact: true }).first().click()
    await page.getByLabel('Find datasets, columns, series').fill('sunny')
    await page.getByText('1 dataset', { exact: true }).waitFor()
    await page.getByRole('link', { name: /stations/ }).waitFor()
    await walked.expectClean()
    await page.getByLabel('Find datasets, columns, series').fill('popul')
    await page.getByText(/^2 series|^1 series/).waitFor()
    await page.getByRole('link', { name: 'Population' }).first().waitFor()
    await walked.expectClean('search')
  })

  it('says what to do next where an address leads nowhere', async () => {
    const { page } = walked.visitor
    walked.visitor.expectRefusal(404, '/99')
    walked.visitor.expectRefusal(404, '/providers/nobody')
    for (const place of ['datasets/99', 'repositories/99', 'providers/nobody', 'elsewhere']) {
      await page.evaluate((hash) => {
        location.hash = hash
      }, `#/${place}`)
      await page.locator('main > .empty').getByRole('link', { name: /^All / }).waitFor()
      await walked.expectClean()
    }
  })

  it('is as clean in the dark and on a narrow screen', async () => {
    const { page } = walked.visitor
    await page.getByRole('button', { name: 'Change to dark colours' }).click()
    await page.setViewportSize({ width: 360, height: 740 })
    for (const place of [
      '',
      'providers',
      'account',
      'datasets/1',
      'datasets/2?view=columns',
      'datasets/2?view=plot',
    ]) {
      await page.evaluate((hash) => {
        location.hash = hash
      }, `#/${place}`)
      await page.locator('main > .page :is(.grid-row, .u-over, .card, .dataset-item)').first().waitFor()
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(overflow, place).toBeLessThanOrEqual(0)
    }
    await walked.expectClean()
    await page.getByRole('button', { name: 'Change to light colours' }).click()
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('names members, changes what they may do, and removes them', async () => {
    const { page } = walked.visitor
    await page.evaluate(() => {
      location.hash = '#/repositories/1'
    })
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('link', { name: 'Members' }).click()
    await page.getByText('0 members').waitFor()
    const name = page.getByLabel('Name of an account')
    walked.visitor.expectRefusal(404, '/members/')
    await name.fill('no name')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByText('There is no account').waitFor()
    await walked.expectClean()
    await walked.stage.account('grace')
    await name.fill('grace')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByText('1 member', { exact: true }).waitFor()
    await page.getByLabel('What grace may do').selectOption('Write')
    await page.getByText('grace may read and write now.').waitFor()
    expect(await (await walked.stage.api('GET', '/repositories/1/members')).json()).toEqual([
      { account: 'grace', permission: 'Write' },
    ])
    await walked.expectClean()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('0 members').waitFor()
    await walked.expectClean()
  })

  it('makes and ends further keys', async () => {
    const { page } = walked.visitor
    await walked.go('account')
    await page.getByText('No further keys.').waitFor()
    await page.getByLabel('What it is for').fill('nightly')
    await page.getByLabel('When it ends').selectOption('in 90 days')
    await page.getByLabel('Where').selectOption('only in some')
    await page.getByRole('button', { name: 'Make a key' }).click()
    await page.getByText('Choose at least one repository.').waitFor()
    await page.getByRole('checkbox', { name: 'Weather' }).check()
    await walked.expectClean('limited-key')
    await page.getByRole('button', { name: 'Make a key' }).click()
    const key = await page.getByTestId('new-key').textContent()
    await walked.expectClean('named-key')
    await page.getByRole('button', { name: 'I have copied it' }).click()
    const asked = () => fetch(`${walked.stage.server.url}/repositories`, { headers: { 'x-api-key': key! } })
    expect((await asked()).status).toBe(200)
    await page.getByText(/only reads in 1 repository, ends /).waitFor()
    await page.getByRole('button', { name: 'End the key nightly' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End the key' }).click()
    await page.getByText('No further keys.').waitFor()
    expect((await asked()).status).toBe(401)
    await walked.expectClean()
  })

  it('makes accounts, moves them to other plans, shuts them out and gives new keys', async () => {
    const { page } = walked.visitor
    await page.getByRole('link', { name: 'All accounts' }).click()
    await page.getByLabel('Name of the new account').fill('lin')
    await page.getByRole('button', { name: 'Make the account' }).click()
    const key = await page.getByTestId('new-key').textContent()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    const status = async () =>
      (await fetch(`${walked.stage.server.url}/account`, { headers: { 'x-api-key': key! } })).status
    expect(await status()).toBe(200)
    const plan = page.getByLabel('Plan of lin')
    expect(await plan.locator('option').allTextContents()).toEqual(['free', 'pro', 'unlimited'])
    await plan.selectOption('pro')
    await page.getByText('lin has the plan pro now.').waitFor()
    await page.getByRole('button', { name: 'Disable lin' }).click()
    await page.getByText('lin is disabled; its data stays.').waitFor()
    expect(await status()).toBe(401)
    await walked.expectClean('accounts')
    await page.getByRole('button', { name: 'Enable lin' }).click()
    await page.getByText('lin is enabled again.').waitFor()
    await page.getByRole('button', { name: 'New key for lin' }).click()
    await page.getByRole('button', { name: 'Make the new key' }).click()
    await page.getByTestId('new-key').waitFor()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    expect(await status()).toBe(401)
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(
      0,
    )
    await walked.expectClean('accounts-narrow')
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  let fresh: string
  it('replaces the key, shows the new one once and goes on with it', async () => {
    const { page } = walked.visitor
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Account' }).click()
    await page.getByText('Exported rows in').waitFor()
    await page.getByText('FRED', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Replace the key…' }).click()
    await page.getByRole('button', { name: 'Replace the key', exact: true }).click()
    fresh = (await page.getByTestId('new-key').textContent())!
    await walked.expectClean()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    expect((await walked.stage.api('GET', '/account')).status).toBe(401)
    expect(await page.content()).not.toContain(fresh)
    await page.getByText(`Your key ends in`).waitFor()
    await walked.expectClean()
  })

  it('signs out, and leads on to the same address after the next sign-in', async () => {
    const { page } = walked.visitor
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Your key').waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    expect(page.url()).toContain('#/account')
    await walked.expectClean()
  })

  it('is not signed in by an address with a key, as this is no demo', async () => {
    const { page, expectRefusal } = walked.visitor
    expectRefusal(404, '/console/demo')
    await page.goto('about:blank')
    await page.goto(`${walked.stage.server.url}/console/#key=${fresh}`)
    await page.getByLabel('Your key').waitFor()
    expect(page.url()).not.toContain(fresh)
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  })
})
