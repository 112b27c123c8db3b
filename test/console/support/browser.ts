import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page, type Request } from 'playwright-core'

const CANDIDATES = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/google-chrome']

/** The browser of this machine; undefined where there is none. */
export const browserPath = CANDIDATES.find((path) => path !== undefined && existsSync(path))

/** Whether to skip the tests that need a browser. Says so, because a silent skip looks like a pass. */
export function withoutBrowser(): boolean {
  if (browserPath === undefined) {
    console.warn(
      'The browser tests of the console are skipped: no Chromium at CHROMIUM_PATH, /usr/bin/chromium or /usr/bin/google-chrome.',
    )
  }
  return browserPath === undefined
}

export interface Visitor extends AsyncDisposable {
  readonly page: Page
  /** Errors of the browser's console that nobody has expected, and requests to other hosts. */
  readonly complaints: string[]
  /** From now on, refusals with this status at addresses that hold this text are part of the test. */
  expectRefusal(status: number, address: string): void
  /** Resolves once the page waits for no response, shows nothing that loads, and has drawn what it has. */
  settled(): Promise<void>
}

const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** One browser for all files of a process, with whose end it ends. */
let browser: Promise<Browser> | undefined

/** A profile of its own, that may talk to one address alone. */
export async function visit(
  origin: string,
  size = { width: 1280, height: 800 },
  options: { readonly bypassCSP?: boolean } = {},
): Promise<Visitor> {
  browser ??= chromium.launch({ executablePath: browserPath!, args: ARGUMENTS })
  const context = await (await browser).newContext({ ...options, viewport: size })
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const complaints: string[] = []
  const refusals: { status: number; address: string }[] = []
  page.on('pageerror', (error) => complaints.push(`exception: ${error.stack ?? error.message}`))
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    const { url } = message.location()
    // Chromium itself notes every refused request as an error; those that a step is about are no fault.
    const expected = refusals.some(
      ({ status, address }) => message.text().includes(`status of ${status}`) && url.includes(address),
    )
    // Every page of a dataset asks what it follows, and mostly it is nothing.
    const followsNothing = message.text().includes('status of 404') && /\/datasets\/\d+\/source$/.test(url)
    if (!expected && !followsNothing) complaints.push(`${message.type()}: ${message.text()} ${url}`)
  })
  const open = new Set<Request>()
  context.on('requestfinished', (request) => open.delete(request))
  context.on('requestfailed', (request) => open.delete(request))
  context.on('request', (request) => {
    open.add(request)
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith(`blob:${origin}/`))
      complaints.push(`foreign: ${url}`)
  })
  return {
    page,
    complaints,
    expectRefusal: (status, address) => refusals.push({ status, address }),
    async settled() {
      const draw = () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
      do {
        await page.locator('main .loading').first().waitFor({ state: 'detached' })
        // What has come may lead to further requests.
        await page.evaluate(draw)
      } while (open.size > 0)
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
}

const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'))

/** What axe-core finds wrong with the page as it is now: rule, and the elements that break it. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(readFileSync(AXE, 'utf8'))
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<AxeResults> } }
    // A button that has just become usable still fades between two colours, and axe would measure one in between.
    const ending = document
      .getAnimations()
      .filter((it) => it.effect?.getComputedTiming().endTime !== Infinity)
    await Promise.allSettled(ending.map((it) => it.finished))
    let { violations } = await axe.run()
    if (violations.length > 0) {
      // It may have become usable while axe looked; a lasting fault is there again.
      await new Promise((resolve) => setTimeout(resolve, 500))
      ;({ violations } = await axe.run())
    }
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}

/** A script for pages that have to come to rest: one that nobody sees does not follow changes. */
export const UNSEEN = "Object.defineProperty(document, 'visibilityState', { value: 'hidden' })"

/** Opens an address and gives the key that is asked for. */
export async function signIn({ page }: Visitor, address: string, key: string): Promise<void> {
  await page.goto(address)
  await page.getByLabel('Your key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
}

/** A picture of the page, for people, where a folder for them is named. */
export async function picture({ page }: Visitor, name: string): Promise<void> {
  const folder = process.env['PARQUETRY_TEST_PICTURES']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
