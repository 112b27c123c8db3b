import { describe, expect, it } from 'vitest'
import { violations, visit, withoutBrowser } from './support/browser.ts'
import { walk } from './support/steps.ts'

const GUIDE = ['', 'start', 'tasks/python', 'reference/http']

describe.skipIf(withoutBrowser())('the pages beside the console', () => {
  const walked = walk()

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)(
    'have no fault that axe finds, in %s colours at %s pixels',
    async (colorScheme, width) => {
      const { url } = walked.stage.server
      await using visitor = await visit(url, { width, height: 844 })
      const { page } = visitor
      await page.emulateMedia({ colorScheme })
      await page.goto(`${url}/docs`)
      // It is drawn from the top, which has the operations of repositories.
      await page.locator('.endpoint-method').filter({ visible: true }).first().waitFor()
      expect(await violations(page)).toEqual([])
      if (!(await fetch(`${url}/guide/`)).ok)
        return console.warn('The guide is not tested: `npx vitepress build docs` makes it.')
      for (const name of GUIDE) {
        await page.goto(`${url}/guide/${name}`)
        // The role is set once the page is usable.
        await page.locator('#VPContent[role]').waitFor()
        expect(await violations(page), name).toEqual([])
      }
    },
    120_000,
  )
})
