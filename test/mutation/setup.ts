import { inject } from 'vitest'

/** Threads and processes that a test starts read from the environment which change holds. */
const mutant = inject('activeMutant' as never) as string | undefined
if (mutant !== undefined) process.env['__STRYKER_ACTIVE_MUTANT__'] = mutant
