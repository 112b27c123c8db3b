import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pixelmatch from 'pixelmatch'
import type { Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signIn, UNSEEN, type Visitor, visit, withoutBrowser } from './support/browser.ts'
import { fillStage, PAGES } from './support/pages.ts'
import { FRED, openStage, ROOT_KEY, type Stage } from './support/stage.ts'

/*
 * Compares each page with a picture of it, to the pixel: `npm run test:pictures`. After a wanted change,
 * `PARQUETRY_PICTURES=update npm run test:pictures` takes the pictures anew. They hold for one version of Chromium,
 * because others smooth edges differently.
 */

const MODE = process.env['PARQUETRY_PICTURES']
const KEPT = fileURLToPath(new URL('./pictures/', import.meta.url))
/** Where pictures that differ are put, with what differs in red. */
const FAILED = join(tmpdir(), 'parquetry-pictures')
const CHROMIUM = join(KEPT, 'chromium.txt')

/** The address that pages show as their own, whatever the port is. */
const ORIGIN = 'http://parquetry.localhost'
/** The time of everything that is shown, and of the browser's clock a little later. */
const SHOWN = '2026-01-05T09:30:00.000Z'
const NOW = '2026-01-05T10:00:00.000Z'

const LOOKS = [
  ['light', 1280, 800],
  ['dark', 1280, 800],
  ['light', 768, 1024],
  ['light', 390, 844],
] as const

const font = (name: string) => {
  const bytes = readFileSync(fileURLToPath(import.meta.resolve(name)))
  return `url(data:font/woff2;base64,${bytes.toString('base64')})`
}
/** The fonts of the pages are those of each machine; these are always the same. */
const FONTS = `
  @font-face { font-family: Sans; font-weight: 100 900; src: ${font('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2')} }
  @font-face { font-family: Mono; src: ${font('@fontsource/dejavu-mono/files/dejavu-mono-latin-400-normal.woff2')} }
  :root { --sans: Sans !important; --mono: Mono !important; caret-color: transparent }
  *, *::before, *::after { animation: none !important; transition: none !important }`

/** Makes what changes from run to run the same: times, counts, fonts. */
async function pin(page: Page, server: string): Promise<void> {
  await page.clock.setFixedTime(NOW)
  await page.route(`${ORIGIN}/**`, async (route) => {
    const response = await route.fetch({ url: route.request().url().replace(ORIGIN, server) })
    if (!response.headers()['content-type']?.includes('json')) return route.fulfill({ response })
    const given = (await response.text())
      .replace(/"exportedRows":\s*\d+/, '"exportedRows":1148')
      .replace(/not asked for \d+ s/, 'not asked for 15 s')
    const text = given.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, SHOWN)
    return route.fulfill({ response, body: text })
  })
  await page.addInitScript((css) => {
    addEventListener('DOMContentLoaded', () => {
      document.head.append(Object.assign(document.createElement('style'), { textContent: css }))
    })
  }, FONTS)
}

describe.skipIf(MODE === undefined || withoutBrowser())('every page', () => {
  let stage: Stage
  let visitor: Visitor
  beforeAll(async () => {
    mkdirSync(KEPT, { recursive: true })
    mkdirSync(FAILED, { recursive: true })
    stage = await openStage(FRED)
    await fillStage(stage)
    visitor = await visit(ORIGIN, undefined, { bypassCSP: true })
    await pin(visitor.page, stage.server.url)
    await visitor.page.addInitScript(UNSEEN)
    await signIn(visitor, `${ORIGIN}/console/`, ROOT_KEY)
    await visitor.page.evaluate(() =>
      Promise.all(['1em Sans', '1em Mono'].map((font) => document.fonts.load(font))),
    )
  }, 120_000)
  afterAll(async () => {
    await visitor?.[Symbol.asyncDispose]()
    await stage?.[Symbol.asyncDispose]()
  })

  test('the pictures are of this version of Chromium', () => {
    const version = visitor.page.context().browser()?.version() ?? ''
    if (MODE === 'update') writeFileSync(CHROMIUM, `${version}\n`)
    expect(version, 'take the pictures anew').toBe(readFileSync(CHROMIUM, 'utf8').trim())
  })

  test.each(LOOKS)('looks as before in %s colours at %i pixels', { timeout: 300_000 }, async (...look) => {
    const [colorScheme, width, height] = look
    const { page } = visitor
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height })
    const different: string[] = []
    for (const place of PAGES) {
      await page.goto(`${ORIGIN}/console/#/${place}`)
      await page.locator('main .loading').first().waitFor({ state: 'detached' })
      await page.waitForLoadState('networkidle')
      const name = `${place.replaceAll(/\W+/g, '-') || 'home'}-${colorScheme}-${width}.png`
      if (MODE === 'update') writeFileSync(join(KEPT, name), await settled(page))
      // What comes late, as a plot does, is waited for by looking again.
      let pixels = differing(name, await page.screenshot())
      for (let look = 1; pixels > 0 && look < 10; look++) {
        await page.waitForTimeout(300)
        pixels = differing(name, await page.screenshot())
      }
      if (pixels !== 0) different.push(`${name}: ${pixels} pixels, see ${FAILED}`)
    }
    expect(different).toEqual([])
  })
})

/** A picture of a page that no longer changes. */
async function settled(page: Page): Promise<Buffer> {
  for (let before = await page.screenshot(); ; ) {
    await page.waitForTimeout(1_000)
    const now = await page.screenshot()
    if (now.equals(before)) return now
    before = now
  }
}

/** How many pixels differ from the picture that is kept; all where their sizes differ. */
function differing(name: string, shot: Buffer): number {
  if (!existsSync(join(KEPT, name))) return Number.POSITIVE_INFINITY
  const now = PNG.sync.read(shot)
  const before = PNG.sync.read(readFileSync(join(KEPT, name)))
  if (now.width !== before.width || now.height !== before.height) return now.width * now.height
  const marked = new PNG({ width: now.width, height: now.height })
  const count = pixelmatch(before.data, now.data, marked.data, now.width, now.height, { threshold: 0.05 })
  if (count > 0) {
    writeFileSync(join(FAILED, name), shot)
    writeFileSync(join(FAILED, `marked-${name}`), PNG.sync.write(marked))
  }
  return count
}
