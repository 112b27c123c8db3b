import { describe, expect, it } from 'vitest'
import { signIn, withoutBrowser } from './support/browser.ts'
import { ROOT_KEY } from './support/stage.ts'
import { walk } from './support/steps.ts'

describe.skipIf(withoutBrowser())('a dataset that follows series or a file', () => {
  const walked = walk(async ({ stage, visitor }) => {
    await stage.api('PUT', '/user-keys/fred', { key: 'a-key-for-fred-0' })
    await stage.api('POST', '/repositories', { name: 'World', private: false })
    await stage.api('POST', '/datasets', { name: 'People', repositoryId: 1 })
    await signIn(visitor, `${stage.server.url}/console/#/datasets/1`, ROOT_KEY)
  })
  const box = () => walked.visitor.page.getByRole('region', { name: 'What is followed' })
  const choose = async (item: string) => {
    await walked.visitor.page.getByRole('button', { name: 'More' }).click()
    await walked.visitor.page.getByRole('button', { name: item }).click()
  }
  const dialog = () => walked.visitor.page.getByRole('dialog', { name: 'Follow series or a file' })
  const source = async () => (await walked.stage.api('GET', '/datasets/1/source')).json()

  it('is made of an empty one, and shows its rows at once', async () => {
    await choose('Follow series or a file…')
    await dialog().getByLabel('Series').fill('fred/POPTHM')
    await dialog().getByLabel('How often').selectOption('every week')
    await dialog().getByLabel('First date').fill('2022-03-01')
    await walked.expectClean('follow-dialog')
    await dialog().getByRole('button', { name: 'Follow' }).click()
    await box().getByText('Follows fred/POPTHM every week').waitFor()
    await walked.visitor.page.getByText('22 rows').first().waitFor()
    await box().getByText('· refreshed').waitFor()
    expect(await box().textContent()).toMatch(/· refreshed .+ · next .+/)
    expect(await source()).toMatchObject({ series: ['fred/POPTHM'], every: 'week', start: '2022-03-01' })
    await walked.expectClean('follow-box')
  })

  it('takes no rows of other files, and says why where an address leads there', async () => {
    const { page } = walked.visitor
    const add = page.getByRole('link', { name: 'Add rows' })
    expect(await add.count()).toBe(0)
    await page.goto(`${walked.stage.server.url}/console/#/repositories/1/upload?dataset=1`)
    await page.getByText('People follows series').waitFor()
    await walked.expectClean('follow-upload')
    await page.getByRole('link', { name: 'Go to the dataset' }).click()
    await box().getByText('Follows fred/POPTHM every week').waitFor()
  })

  it('says what is wrong with a series, and changes nothing', async () => {
    walked.visitor.expectRefusal(400, '/datasets/1/source')
    await choose('Change what it follows')
    expect(await dialog().getByLabel('Series').inputValue()).toBe('fred/POPTHM')
    expect(await dialog().getByLabel('First date').inputValue()).toBe('2022-03-01')
    await dialog().getByLabel('Series').fill('nobody/GDP')
    await dialog().getByRole('button', { name: 'Follow' }).click()
    await dialog().getByText('nobody', { exact: false }).waitFor()
    await walked.expectClean()
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    expect(await source()).toMatchObject({ series: ['fred/POPTHM'] })
  })

  it('tells the error of the last run', async () => {
    const { upstream } = walked.stage
    upstream.routes = { ...upstream.routes, '/series/observations': { status: 500, body: 'down' } }
    await choose('Change what it follows')
    await dialog().getByLabel('First date').fill('')
    await dialog().getByRole('button', { name: 'Follow' }).click()
    await box().getByRole('status').waitFor()
    expect(await box().getByRole('status').textContent()).toContain('FRED')
    await walked.expectClean('follow-error')
  })

  it('stops with its rows left, after it was asked', async () => {
    await choose('Stop following')
    const question = walked.visitor.page.getByRole('dialog', { name: 'Stop following?' })
    await question.getByText('The rows stay as they are').waitFor()
    await walked.expectClean()
    await question.getByRole('button', { name: 'Stop following' }).click()
    await box().waitFor({ state: 'hidden' })
    await walked.visitor.page.getByRole('link', { name: 'Add rows' }).waitFor()
    expect((await walked.stage.api('GET', '/datasets/1/source')).status).toBe(404)
    expect(await (await walked.stage.api('GET', '/datasets/1')).json()).toMatchObject({ rowCount: 22 })
    await walked.expectClean()
  })

  it('follows the file of an address, and says so', async () => {
    const { upstream, api, server } = walked.stage
    upstream.routes = { ...upstream.routes, '/people.csv': { status: 200, body: 'name,age\nAda,36\n' } }
    const { id } = await (await api('POST', '/datasets', { name: 'File', repositoryId: 1 })).json()
    await walked.visitor.page.goto(`${server.url}/console/#/datasets/${id}`)
    await walked.visitor.page.getByRole('heading', { name: 'File' }).waitFor()
    await choose('Follow series or a file…')
    await dialog().getByLabel('Series').fill(`${upstream.url}/people.csv`)
    await dialog().getByRole('button', { name: 'Follow' }).click()
    await box().getByText(`Follows ${upstream.url}/people.csv every day`).waitFor()
    await walked.visitor.page.getByText('1 row').first().waitFor()
    expect(await (await api('GET', `/datasets/${id}/source`)).json()).toMatchObject({ mode: 'replace' })
    await walked.expectClean('follow-file')
    upstream.routes = { ...upstream.routes, '/people.csv': { status: 200, body: 'name,age\nAda,36\nBo,7\n' } }
    await choose('Refresh now')
    await walked.visitor.page.getByText('Refreshed.').waitFor()
    await walked.visitor.page.getByText('2 rows').first().waitFor()
    // What the error names is there to be filled in.
    upstream.routes = { ...upstream.routes, '/people.csv': { status: 200, body: 'name,age\nAda,36.5\n' } }
    await choose('Refresh now')
    await box().getByText('“Options of the file: columns=replace” takes the types of the file').waitFor()
    await choose('Change what it follows')
    await dialog().getByLabel('Options of the file').fill('columns=replace')
    await walked.expectClean('follow-options')
    await dialog().getByRole('button', { name: 'Follow' }).click()
    await box().getByText('“Options of the file').waitFor({ state: 'hidden' })
    expect(await (await api('GET', `/datasets/${id}/source`)).json()).toMatchObject({ lastError: null })
  })

  it('can be a new one, which is made only if the file can be fetched', async () => {
    const { upstream, api, server } = walked.stage
    const { page } = walked.visitor
    upstream.routes = { ...upstream.routes, '/lost.csv': { status: 404, body: 'no' } }
    await page.goto(`${server.url}/console/#/upload`)
    await page.getByRole('button', { name: 'Follow series or a file…' }).click()
    await dialog().getByLabel('Series').fill(`${upstream.url}/lost.csv`)
    await dialog().getByLabel('Name of the dataset').fill('Followed')
    await walked.expectClean('follow-new')
    const names = async () =>
      ((await (await api('GET', '/datasets')).json()) as { name: string }[]).map(({ name }) => name)
    // In a repository that the first attempt makes, and the second one finds.
    for (const [file, outcome] of [
      ['lost', dialog().getByText('answered with status 404')],
      ['people', box().getByText(`Follows ${upstream.url}/people.csv every day`)],
    ] as const) {
      await dialog().getByLabel('Series').fill(`${upstream.url}/${file}.csv`)
      await dialog().getByRole('button', { name: 'Follow' }).click()
      await outcome.waitFor()
      expect((await names()).includes('Followed')).toBe(file === 'people')
    }
    await walked.expectClean()
  })

  it('says that the rows of a query are stored by schedule, which is no source to change', async () => {
    const { api, server } = walked.stage
    const fields = { name: 'Stored', repositoryId: 1, query: { sql: 'SELECT 1 AS n' }, materialize: 'day' }
    const { id } = await (await api('POST', '/datasets', fields)).json()
    await walked.visitor.page.goto(`${server.url}/console/#/datasets/${id}`)
    await box().getByText('Follows a query every day').waitFor()
    await walked.visitor.page.getByRole('button', { name: 'More' }).click()
    await walked.visitor.page.getByRole('button', { name: 'Stop following' }).waitFor()
    const change = walked.visitor.page.getByRole('button', { name: 'Change what it follows' })
    expect(await change.count()).toBe(0)
  })
})
