import { describe, it } from 'vitest'
import { withoutBrowser } from './support/browser.ts'
import { expectSound, walkPages } from './support/pages.ts'

describe.skipIf(withoutBrowser())('every page', () => {
  const walked = walkPages()

  it.each([
    ['dark', 768],
    ['light', 390],
  ] as const)(
    'has no fault that axe finds, and one left edge, in %s colours at %s pixels',
    (colours, width) => expectSound(walked, colours, width),
    180_000,
  )
})
