import { describe, expect, it } from 'vitest'
import { signIn, UNSEEN, withoutBrowser } from './support/browser.ts'
import { fillStage } from './support/pages.ts'
import { ROOT_KEY } from './support/stage.ts'
import { walk } from './support/steps.ts'

describe.skipIf(withoutBrowser())('the history of a dataset', () => {
  const walked = walk(async ({ stage, visitor }) => {
    await fillStage(stage)
    await visitor.page.addInitScript(UNSEEN)
    await signIn(visitor, `${stage.server.url}/console/`, ROOT_KEY)
  })

  it('compares versions, looks at one, restores it, and undoes that', async () => {
    const { page } = walked.visitor
    const current = async () =>
      ((await (await walked.stage.api('GET', '/datasets/1')).json()) as { rowCount: number }).rowCount
    await walked.go('datasets/1?view=history')
    await page.getByRole('cell', { name: 'replace: shorter' }).waitFor()
    const older = page.getByRole('row', { name: /^1 / })
    await older.getByRole('button', { name: 'Compare' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The first 50 changes; all of them are at').waitFor()
    await dialog.getByText('400 rows then, 100 now.').waitFor()
    await dialog.getByRole('row', { name: /day highest 2025-02-03 2024-04-09/ }).waitFor()
    expect(await dialog.getByRole('row', { name: /^2 deleted/ }).count()).toBe(50)
    await walked.expectClean('dialog-compare')
    await page.keyboard.press('Escape')
    await older.getByRole('link', { name: 'Look' }).click()
    await page.getByText('You see version 1').waitFor()
    await page.getByText('400 rows').first().waitFor()
    await page.getByRole('button', { name: 'Restore this version' }).click()
    await dialog
      .getByText('The table has 400 rows afterwards, 300 more than now. The change of version 2 is undone')
      .waitFor()
    await walked.expectClean('dialog-restore')
    expect(await current()).toBe(100)
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('Version 1 is current again, as version 3.').waitFor()
    await expect.poll(current).toBe(400)
    await walked.expectClean('toast-undo')
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(current).toBe(100)
  })

  it('compares the rows of versions, with the old and the new value of each cell', async () => {
    const { stage } = walked
    const { page } = walked.visitor
    const rows = [
      { id: 1, 2024: 'a', b: null },
      { id: 2, 2024: 'b', b: 1 },
    ]
    const columns = [
      { name: 'id', type: 'integer' },
      { name: '2024', type: 'string' },
      { name: 'b', type: 'integer' },
    ]
    const made = await stage.api('POST', '/datasets', { name: 'compared', repositoryId: 1, columns })
    const { id } = (await made.json()) as { id: number }
    await stage.api('PATCH', `/datasets/${id}`, { key: ['id'] })
    await stage.api('PUT', `/datasets/${id}/data`, { rows })
    await stage.api('PATCH', `/datasets/${id}/data?$filter=id%20eq%201`, { b: 7 })
    await walked.go(`datasets/${id}?view=history`)
    await page.getByRole('row', { name: /^2 / }).getByRole('button', { name: 'Compare' }).click()
    const table = page.getByRole('dialog').getByRole('region', { name: 'Changed rows' })
    await table.getByRole('row', { name: /^3 changed 1 a null 7$/ }).waitFor()
    expect(await table.getByRole('row').count()).toBe(2)
    await walked.expectClean('dialog-compare-rows')
    await page.keyboard.press('Escape')
    await stage.api('PATCH', `/datasets/${id}/data?$filter=id%20eq%202`, { b: 8 })
    await page.reload()
    await page.getByRole('row', { name: /^3 / }).getByRole('button', { name: 'Undo this change' }).click()
    await page.getByText('1 row of version 3 changed back, as version 5.').waitFor()
    const left = await stage.api('GET', `/datasets/${id}/data?$format=json&$orderby=id`)
    expect(await left.json()).toMatchObject([{ b: null }, { b: 8 }])
    await page.setViewportSize({ width: 390, height: 844 })
    const versions = page.getByRole('region', { name: 'Versions' })
    expect(await versions.evaluate((it) => it.scrollWidth - it.clientWidth)).toBe(0)
    await walked.expectClean('history-cards')
    for (const tab of await page.getByRole('tab').all()) {
      const { x, width } = (await tab.boundingBox())!
      expect(x + width).toBeLessThan(390)
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    await stage.api('DELETE', `/datasets/${id}`)
  })

  it('shows an edit without a key as one changed row, and undoes it unless others have changed rows since', async () => {
    const { stage } = walked
    const { page } = walked.visitor
    const made = await stage.api('POST', '/datasets', { name: 'unkeyed', repositoryId: 1 })
    const { id } = (await made.json()) as { id: number }
    await stage.upload(`/datasets/${id}/data`, 'text/csv', 'town,people\nOslo,1\nHamar,2\n')
    const people = async () =>
      (
        (await (await stage.api('GET', `/datasets/${id}/data?$format=json`)).json()) as { people: number }[]
      ).map((row) => row.people)
    const change = async (from: string, to: string) => {
      await walked.go(`datasets/${id}`)
      await page.getByRole('gridcell', { name: from, exact: true }).click()
      await page.getByRole('button', { name: 'Change', exact: true }).click()
      await page.getByRole('dialog').getByLabel('people').fill(to)
      await page.getByRole('dialog').getByRole('button', { name: 'Change' }).click()
      await page.getByRole('gridcell', { name: to, exact: true }).waitFor()
    }
    const toast = page.locator('.toast').filter({ hasText: '1 cell changed.' }).last()
    await change('2', '7')
    await toast.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(people).toEqual([1, 2])
    await page.getByRole('gridcell', { name: '2', exact: true }).waitFor()
    await change('2', '8')
    await walked.go(`datasets/${id}?view=history`)
    await page.getByText('The newest change can be undone alone').waitFor()
    await page.getByRole('row', { name: /^3 / }).getByRole('button', { name: 'Compare' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('1 row changed.').waitFor()
    await dialog.getByRole('row', { name: 'changed Hamar 2 8' }).waitFor()
    await page.keyboard.press('Escape')
    const undo = page.getByRole('button', { name: 'Undo this change' })
    expect(await undo.count()).toBe(1)
    await undo.click()
    await dialog.getByText('as many as now. The change of version 4 is undone').waitFor()
    await page.keyboard.press('Escape')
    const other = () =>
      stage.api('PATCH', `/datasets/${id}/data?$filter=people%20ne%208`, { people: '=people add 1' })
    const refused = page.getByText('The rows have changed since. See History.')
    walked.visitor.expectRefusal(412, '/restore')
    await undo.click()
    // Somebody else commits after the page has looked.
    await page.route('**/restore', async (route) => {
      await other()
      await route.continue()
    })
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await dialog.getByText('The rows have changed since. See History.').waitFor()
    await page.unroute('**/restore')
    await page.keyboard.press('Escape')
    await toast.getByRole('button', { name: 'Undo' }).click()
    await refused.last().waitFor()
    expect(await people()).toEqual([2, 8])
    await stage.api('DELETE', `/datasets/${id}`)
  })

  it('shows all of the versions and what can be done with them on a tablet', async () => {
    const { page } = walked.visitor
    await page.setViewportSize({ width: 768, height: 844 })
    await walked.go('datasets/1?view=history')
    const table = page.getByRole('region', { name: 'Versions' })
    await table.getByRole('button', { name: 'Restore' }).first().waitFor()
    expect(await table.evaluate((it) => it.scrollWidth - it.clientWidth)).toBe(0)
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('looks at the first version, which has no rows', async () => {
    const { page } = walked.visitor
    await walked.go('datasets/1?view=history')
    const first = page.getByRole('row', { name: /^0 / })
    await first.getByRole('link', { name: 'Look' }).click()
    await page.getByText('You see version 0').waitFor()
    await page.getByText('0 rows', { exact: true }).first().waitFor()
    expect(await page.getByRole('gridcell').count()).toBe(0)
  })
})
