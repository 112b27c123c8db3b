import { expect, it } from 'vitest'
import { CATALOG_STEPS } from '../../engine/catalog/schema.ts'
import { SERVER_STEPS } from '../../server/accounts/schema.ts'

/** How many steps 0.2.0 had, before this rule. */
const FREE = { catalog: 7, server: 7 }
/** What a node of the version before would not survive, or would violate by what it writes. */
const TAKES_AWAY = /\b(DROP|RENAME)\b|\bADD COLUMN\b(?![^;]*\bDEFAULT\b)[^;]*\bNOT NULL\b|\bUNIQUE INDEX\b/

it.each([
  ['catalog', CATALOG_STEPS.slice(FREE.catalog)],
  ['server', SERVER_STEPS.slice(FREE.server)],
])('steps of the %s only add, so that nodes of the version before go on', (_, steps) => {
  expect(steps.length).toBeGreaterThan(0)
  expect(steps.filter((step) => TAKES_AWAY.test(step))).toEqual([])
})
