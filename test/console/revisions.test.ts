import { describe, expect, it } from 'vitest'
import { signIn, withoutBrowser } from './support/browser.ts'
import { FRED, ROOT_KEY } from './support/stage.ts'
import { walk } from './support/steps.ts'

const csv = (values: readonly number[]) =>
  `series_id,date,period,value\n${values.map((value, at) => `fred/GDP,2024-0${1 + 3 * at}-01,2024-Q${at + 1},${value}\n`).join('')}`

describe.skipIf(withoutBrowser())('revisions and notes of series', () => {
  const walked = walk(async ({ stage, visitor }) => {
    await stage.api('PUT', '/user-keys/fred', { key: 'a-key-for-fred-0' })
    await stage.api('POST', '/repositories', { name: 'World', private: false })
    await stage.api('POST', '/datasets', { name: 'Product', repositoryId: 1 })
    for (const values of [[100.5], [101.5, 102], [101.5, 102, 103]])
      await stage.upload('/datasets/1/data', 'text/csv', csv(values))
    await signIn(visitor, `${stage.server.url}/console/#/datasets/1?view=history`, ROOT_KEY)
  })

  it('are plotted once they are asked for, the first release beside the current value', async () => {
    const { page } = walked.visitor
    await page.getByRole('button', { name: 'Show what was revised' }).click()
    await page.getByText('Revised in the versions that are kept: 1 of 3 periods.').waitFor()
    await page.getByRole('img', { name: /Revisions of fred\/GDP/ }).waitFor()
    const table = page.getByRole('region', { name: 'Largest revisions' })
    expect(await table.locator('tbody tr').allTextContents()).toEqual(['2024-Q1100.5101.51'])
    await walked.expectClean('revisions')
  })

  it('are shown with a series, whole if asked for', async () => {
    const { stage, visitor } = walked
    const notes = `This series has been replaced. ${'More is said of it. '.repeat(40)}The end.`
    const [series] = (FRED['/series'] as { body: { seriess: object[] } }).body.seriess
    stage.upstream.routes = {
      ...stage.upstream.routes,
      '/series': { body: { seriess: [{ ...series, notes }] } },
    }
    await walked.go('providers/fred?series=POPTHM')
    await visitor.page.getByText('This series has been replaced.').waitFor()
    await walked.expectClean('series-notes')
    await visitor.page.getByRole('button', { name: 'All of the notes' }).click()
    await visitor.page.getByText('The end.').waitFor()
    await walked.expectClean()
  })
})
