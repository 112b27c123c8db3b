import { inject } from 'vitest'

const mutant = inject('activeMutant' as never) as string | undefined
if (mutant !== undefined) {
  // StrykerJS sets it in a hook, which may come after those that start a server.
  const name = inject('globalNamespace' as never) as string
  Object.assign(((globalThis as unknown as Record<string, object>)[name] ??= {}), { activeMutant: mutant })
  // Threads and processes that a test starts read there which change holds.
  process.env['__STRYKER_ACTIVE_MUTANT__'] = mutant
}
