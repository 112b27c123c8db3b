import { expect } from 'vitest'
import { signIn, UNSEEN } from './browser.ts'
import { ROOT_KEY, type Stage } from './stage.ts'
import { STATIONS } from './stations.ts'
import { type Walk, walk } from './steps.ts'

/** Every page of the console, behind the `#`, of a stage that `fillStage` has filled. */
export const PAGES = [
  '',
  '?search=stat',
  'upload',
  'sql',
  'repositories/1',
  'repositories/1/members',
  'repositories/1/upload?dataset=1',
  'datasets/1',
  'datasets/1?panel=filter',
  'datasets/1?panel=group&apply=groupby((station))',
  'datasets/1?panel=columns',
  'datasets/1?search=oslo&filter=sunny%20eq%20true',
  'datasets/1?view=columns',
  'datasets/1?view=plot&x=day&y=temperature&by=station',
  'datasets/1?view=plot&x=station&y=%5B%22temperature%22%2C%22Rain%20(mm)%22%5D&kind=bar',
  'datasets/1?view=history',
  'datasets/1?view=connect',
  'datasets/1?view=share',
  'datasets/1?version=1',
  'providers',
  'providers/ecb',
  'account',
  'account/all',
  'nowhere',
]

/** Stores a dataset with two versions. */
export async function fillStage(stage: Stage): Promise<void> {
  await stage.api('POST', '/repositories', { name: 'Weather', private: true })
  await stage.api('POST', '/datasets', { name: 'stations', repositoryId: 1 })
  await stage.upload('/datasets/1/data', 'text/csv', STATIONS)
  await stage.upload(
    '/datasets/1/data?note=shorter',
    'text/csv',
    STATIONS.split('\n').slice(0, 101).join('\n'),
  )
}

/** A walk that begins signed in, on a stage that `fillStage` has filled. */
export function walkPages(): Walk {
  return walk(async ({ stage, visitor }) => {
    await fillStage(stage)
    await visitor.page.addInitScript(UNSEEN)
    await signIn(visitor, `${stage.server.url}/console/`, ROOT_KEY)
    // There is no ECB to browse.
    for (const status of [502, 503, 504]) visitor.expectRefusal(status, '/providers/ecb')
  })
}

/** On every page axe finds no fault, all begins at one left edge, and nothing is wider than the window. */
export async function expectSound(walked: Walk, colorScheme: 'light' | 'dark', width: number): Promise<void> {
  const { page } = walked.visitor
  await page.emulateMedia({ colorScheme })
  await page.setViewportSize({ width, height: 844 })
  for (const place of PAGES) {
    await walked.go(place)
    await walked.visitor.settled()
    const { left, overflow } = await page.evaluate(() => ({
      left: document.querySelector('h1')!.getBoundingClientRect().left,
      overflow: document.documentElement.scrollWidth - innerWidth,
    }))
    if (place !== 'nowhere') expect(left, place).toBe(width < 760 ? 16 : 24)
    expect(overflow, place).toBeLessThanOrEqual(0)
    await walked.expectClean(`page-${width}-${place.replace(/\W+/g, '-')}`)
  }
}
