import { afterAll, beforeAll, expect, it } from 'vitest'
import { visit, withoutBrowser } from './support/browser.ts'
import { FRED, openStage, ROOT_KEY, type Stage } from './support/stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage(FRED, { demo: true })
})
afterAll(() => stage[Symbol.asyncDispose]())

it.skipIf(withoutBrowser())(
  'the address of a demo signs in its own tab, and asks before it replaces a session',
  async () => {
    await using visitor = await visit(stage.server.url)
    const { page } = visitor
    const key = await stage.account('guest')
    const open = async (tab: typeof page, hash: string) => {
      await tab.goto('about:blank')
      await tab.goto(`${stage.server.url}/console/${hash}`)
    }
    const keyOf = (tab: typeof page) => tab.evaluate(() => sessionStorage.getItem('parquetry.key'))
    await open(page, `#key=${ROOT_KEY}`)
    await page.getByRole('link', { name: 'Account' }).waitFor()
    expect([await keyOf(page), page.url().includes(ROOT_KEY)]).toEqual([ROOT_KEY, false])
    expect(await page.evaluate(() => localStorage.length)).toBe(0)

    const asked: string[] = []
    for (const [accepts, expected] of [
      [false, ROOT_KEY],
      [true, key],
    ] as const) {
      const tab = await page.context().newPage()
      tab.on('dialog', (dialog) => {
        asked.push(dialog.message())
        void (accepts ? dialog.accept() : dialog.dismiss())
      })
      await tab.goto(`${stage.server.url}/console/`)
      await tab.getByRole('link', { name: 'Account' }).waitFor()
      await open(tab, `#key=${key}`)
      await tab.getByRole('link', { name: 'Account' }).waitFor()
      expect(await keyOf(tab)).toBe(expected)
      await tab.close()
    }
    expect(asked).toEqual(Array(2).fill('Sign out here, and sign in with the key in the address?'))
    expect(await keyOf(page)).toBe(ROOT_KEY)
  },
)
