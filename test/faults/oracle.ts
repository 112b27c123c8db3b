import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { openEngine } from '../../engine/index.ts'
import { after, BEGINNING, FIRST_STEP, STEPS, type State } from './operations.ts'
import type { Ran } from './shim.ts'
import { stateOf } from './state.ts'

/** A line that worker.ts told. */
interface Told {
  readonly phase?: 'open' | 'step' | 'read' | 'close'
  readonly step?: number
  /** Which of the appends of a step that makes several at once. */
  readonly write?: number
  readonly outcome?: string
  readonly found?: unknown
  readonly message?: string
  readonly uncaught?: string
}

/**
 * Holds the service's promises against what a run left behind, on a machine that works again. Gives each that is
 * broken, in a sentence; none where all is well:
 * - an acknowledged step is there, whole; one that failed isn't there; one whose outcome nobody was told is there
 *   whole or not at all;
 * - what was read between the steps was such a state as well, with all rows in order;
 * - the directory opens, `verify` finds nothing, nothing is left over, and it takes writes;
 * - an acknowledged backup opens and holds what was there then, and a later backup mends one that failed;
 * - no error but those of the disk, none that nobody waited for, and no end by a signal that wasn't sent.
 */
export async function brokenPromises(ran: Ran, directory: string, backup: string): Promise<string[]> {
  const broken: string[] = []
  const killed = ran.seen.some(({ outcome }) => outcome === 'killed')
  if (ran.signal && !killed) broken.push(`it ended by ${ran.signal}: ${ran.errors}`)
  let possible: State[] = [BEGINNING]
  let backed: State[] | undefined
  const check = (what: string, found: unknown, wanted = possible) => {
    if (wanted.some((state) => isDeepStrictEqual(state, found))) return
    broken.push(
      `${what} shows ${JSON.stringify(found)}; possible are ${wanted.map((one) => JSON.stringify(one)).join(' or ')}`,
    )
  }

  const told = ran.told as readonly Told[]
  for (const [index, { phase, step: number, write, outcome, found, message, uncaught }] of told.entries()) {
    if (uncaught) broken.push(`an error that nobody waited for: ${uncaught}`)
    if (outcome === 'other' && !fromDisk(message))
      broken.push(`${phase} ${number ?? ''} failed with ${message}`)
    if (phase === 'read' && outcome === 'done') check(`a read after line ${index}`, found)
    // A read may fail with the disk, but it never finds rows that are wrong.
    if (phase === 'read' && /^Dataset \d+/.test(message ?? ''))
      broken.push(`a read after line ${index}: ${message}`)
    if (phase !== 'step') continue
    const step = STEPS[number! - FIRST_STEP]!
    const made = possible.map((state) => after(state, step, number!, write))
    const isLast = !told.slice(index + 1).some((later) => later.step === number && later.write === write)
    const unsure = isUnknown(outcome, message) || (outcome === 'begun' && isLast)
    if (outcome === 'done') possible = made
    else if (unsure) possible = distinct([...possible, ...made])
    if (step.kind === 'backup') backed = outcome === 'done' ? possible : undefined
  }

  try {
    if (backed) await checkCopy(backup, (state) => check('the backup', state, backed))
    await using engine = await openEngine({ directory, role: 'server', threads: 1, workers: 1 })
    const { problems } = await engine.verify()
    if (problems.length > 0) broken.push(`verify finds ${JSON.stringify(problems)}`)
    const state = await stateOf(engine)
    check('the next start', state)
    await engine.settled()
    broken.push(...leftovers(directory, (await engine.gc()).files))
    await engine.createDataset({ repositoryId: 1, name: 'made afterwards' })
    await engine.backup(backup)
    const last = await stateOf(engine)
    await checkCopy(backup, (copy) => check('a backup afterwards', copy, [last]))
  } catch (error) {
    broken.push(`the next start failed: ${(error as Error).stack}`)
  }
  return broken
}

async function checkCopy(directory: string, check: (state: State) => void): Promise<void> {
  await using engine = await openEngine({ directory, threads: 1, workers: 1 })
  check(await stateOf(engine))
}

/** Files that nothing needs; the start should have removed them, so gc finds none. */
export function leftovers(directory: string, removed: number): string[] {
  const found = removed > 0 ? [`gc found ${removed} files that the start had left`] : []
  // This process's own folder, its lock and the server's.
  const most = { tmp: 1, locks: 2 }
  for (const [folder, count] of Object.entries(most)) {
    const path = join(directory, folder)
    const names = existsSync(path) ? readdirSync(path).filter((name) => !name.endsWith('.json')) : []
    if (names.length > count) found.push(`${folder} holds ${names.join(', ')}`)
  }
  return found
}

/** Whether an answer leaves open if the change was made; a full disk says which. */
export function isUnknown(outcome: string | undefined, message = ''): boolean {
  return (
    outcome === 'outcome_unknown' || (outcome === 'storage_full' && !message.includes('Nothing was changed'))
  )
}

export function fromDisk(message = ''): boolean {
  return /EIO|ENOSPC|i\/o error|Input\/output|No space left|unable to open database|readonly database|disk/i.test(
    message,
  )
}

function distinct(states: readonly State[]): State[] {
  return states.filter((state, at) => states.findIndex((other) => isDeepStrictEqual(other, state)) === at)
}
