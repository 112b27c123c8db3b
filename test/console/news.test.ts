import { describe, expect, it } from 'vitest'
import { signIn, withoutBrowser } from './support/browser.ts'
import { ROOT_KEY } from './support/stage.ts'
import { walk } from './support/steps.ts'

describe.skipIf(withoutBrowser())('a dataset that others change while it is shown', () => {
  const walked = walk(async ({ stage, visitor }) => {
    await stage.api('POST', '/repositories', { name: 'World', private: false })
    const columns = [{ name: 'n', type: 'integer' }]
    await stage.api('POST', '/datasets', { name: 'Events', repositoryId: 1, columns })
    await signIn(visitor, `${stage.server.url}/console/#/datasets/1`, ROOT_KEY)
    await visitor.page.getByText('No rows yet').waitFor()
  })
  const append = async (...values: number[]) => {
    const answer = await walked.stage.api('POST', '/datasets/1/data', { rows: values.map((n) => [n]) })
    expect(answer.status).toBe(200)
  }
  const button = (name: string) => walked.visitor.page.getByRole('button', { name, exact: true })
  const shown = () =>
    walked.visitor.page.getByTestId('row-count').or(walked.visitor.page.getByText('No rows yet'))

  it('says how many rows are new, and takes them in when asked', async () => {
    const { page } = walked.visitor
    await append(1, 2)
    await button('2 new rows').waitFor()
    await append(3)
    await button('3 new rows').waitFor()
    await walked.expectClean('news')
    expect(await shown().textContent()).toContain('No rows yet')
    await button('3 new rows').click()
    await page.getByRole('gridcell', { name: '3', exact: true }).waitFor()
    await button('3 new rows').waitFor({ state: 'detached' })
    await append(4)
    await button('1 new row').click()
    await page.getByRole('gridcell', { name: '4', exact: true }).waitFor()
  })

  it('says that there are other rows where there are not more', async () => {
    await walked.stage.api('DELETE', '/datasets/1/data?$filter=n%20gt%202')
    await button('Rows have changed').click()
    await walked.visitor.page.getByRole('gridcell', { name: '4', exact: true }).waitFor({ state: 'detached' })
    await walked.expectClean()
  })

  it('says nothing of an earlier version, which is not followed', async () => {
    const { page } = walked.visitor
    const followed: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('follow=true')) followed.push(request.url())
    })
    await walked.go('datasets/1?version=2')
    await page.getByText('You see version 2').waitFor()
    await page.getByRole('gridcell', { name: '2', exact: true }).waitFor()
    expect(followed).toEqual([])
    await walked.go('datasets/1')
    await page.getByText('You see version 2').waitFor({ state: 'detached' })
    const { version } = (await (await walked.stage.api('GET', '/datasets/1')).json()) as { version: number }
    // Not before: the page would read the appended row with the others.
    await expect.poll(() => followed.at(-1)).toContain(`since=${version}&`)
    await append(5)
    await button('1 new row').waitFor()
  })
})
