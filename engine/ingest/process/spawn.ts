import { spawn } from 'node:child_process'
import { closeSync, constants as files } from 'node:fs'
import { Socket } from 'node:net'
import { constants } from 'node:os'
import type { Duplex, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type KoffiFunction, loadKoffi } from '../../util/koffi.ts'

/** How a program ended; `error` if it could not be started. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly error?: Error
}

/** A program that runs beside this one. Its descriptor 3 is the other end of `channel`, 4 that of `bytes`. */
export interface Spawned {
  readonly pid: number | undefined
  /** What it prints as errors. */
  readonly stderr: Readable | undefined
  readonly channel: Duplex | undefined
  readonly bytes: Readable | undefined
  readonly exited: Promise<Exit>
  kill(): unknown
  /** Whether this program must not end before the other one. */
  hold(held: boolean): void
}

/** @throws Error if it can't be started, unless `exited` says so */
export const spawnProgram = process.platform === 'linux' ? withoutFork : withFork

function withFork(argv: readonly string[], env: NodeJS.ProcessEnv, hasBytes: boolean): Spawned {
  const pipes = hasBytes ? (['pipe', 'pipe', 'pipe'] as const) : (['pipe', 'pipe'] as const)
  const [command, ...args] = argv
  const child = spawn(command!, args, { env, stdio: ['ignore', 'ignore', ...pipes], windowsHide: true })
  const [, , stderr, channel, bytes] = (child.stdio ?? []) as unknown as Socket[]
  const { promise: exited, resolve } = Promise.withResolvers<Exit>()
  child.on('error', (error) => resolve({ code: null, signal: null, error }))
  child.on('close', (code, signal) => resolve({ code, signal }))
  return {
    pid: child.pid,
    stderr,
    channel,
    bytes,
    exited,
    // Without an id it was never started, and Node would send the signal to process 0: all of our own group.
    kill: () => child.pid !== undefined && child.kill('SIGKILL'),
    hold: (held) => {
      for (const part of [child, stderr, channel, bytes]) part?.[held ? 'ref' : 'unref']()
    },
  }
}

const OUT = 'void *'
const TEXTS = 'const char **'

/** Functions of the C library: what each returns, and what it takes. */
const FUNCTIONS = {
  socketpair: ['int', 'int', 'int', 'int', OUT],
  posix_spawn: ['int', OUT, 'str', OUT, OUT, TEXTS, TEXTS],
  posix_spawn_file_actions_init: ['int', OUT],
  posix_spawn_file_actions_adddup2: ['int', OUT, 'int', 'int'],
  posix_spawn_file_actions_addopen: ['int', OUT, 'int', 'str', 'int', 'uint'],
  posix_spawn_file_actions_destroy: ['int', OUT],
  waitpid: ['int', 'int', OUT, 'int'],
} as const

let loaded: Readonly<Record<keyof typeof FUNCTIONS, KoffiFunction>> | undefined

function library() {
  if (loaded) return loaded
  const own = loadKoffi().load(null)
  const found = Object.entries(FUNCTIONS).map(([name, [returns, ...takes]]) => [
    name,
    own.func(name, returns, [...takes]),
  ])
  loaded = Object.fromEntries(found) as NonNullable<typeof loaded>
  return loaded
}

/** More than a `posix_spawn_file_actions_t` of any C library. */
const ACTIONS_BYTES = 1_024
const AF_UNIX = 1
const SOCK_STREAM_CLOEXEC = 0o2000001
const WNOHANG = 1
const REAP_MS = 5

/**
 * Node starts programs by fork, which copies the page tables: the event loop stands still for 150 ms and more for each
 * gigabyte that this process has. `posix_spawn` copies nothing.
 */
function withoutFork(argv: readonly string[], env: NodeJS.ProcessEnv, hasBytes: boolean): Spawned {
  const c = library()
  const pid = new Int32Array(1)
  const actions = new Uint8Array(ACTIONS_BYTES)
  c.posix_spawn_file_actions_init(actions)
  const [ours, theirs]: [number[], number[]] = [[], []]
  try {
    for (const target of [0, 1]) {
      c.posix_spawn_file_actions_addopen(actions, target, '/dev/null', files.O_RDWR, 0)
    }
    for (const target of hasBytes ? [2, 3, 4] : [2, 3]) {
      const ends = new Int32Array(2)
      if (c.socketpair(AF_UNIX, SOCK_STREAM_CLOEXEC, 0, ends) !== 0) throw new Error('no descriptor is left')
      ours.push(ends[0]!)
      theirs.push(ends[1]!)
      c.posix_spawn_file_actions_adddup2(actions, ends[1]!, target)
    }
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const failed = c.posix_spawn(pid, argv[0]!, actions, null, [...argv, null], [...variables, null])
    if (failed !== 0) throw new Error(`${argv[0]} could not be started: error ${failed} of the system`)
  } catch (error) {
    for (const end of ours) closeSync(end)
    throw error
  } finally {
    for (const end of theirs) closeSync(end)
    c.posix_spawn_file_actions_destroy(actions)
  }
  return running(pid[0]!, ours)
}

function running(pid: number, ends: readonly number[]): Spawned {
  const sockets = ends.map((fd) => new Socket({ fd }).on('error', () => {}))
  const [stderr, channel, bytes] = sockets
  let hasEnded = false
  const exited = ended(pid, [stderr!, channel!]).finally(() => (hasEnded = true))
  return {
    pid,
    stderr,
    channel,
    bytes,
    exited,
    // Until we have waited for it, its id can't be that of another process.
    kill: () => !hasEnded && process.kill(pid, 'SIGKILL'),
    hold: (held) => {
      for (const socket of sockets) socket[held ? 'ref' : 'unref']()
    },
  }
}

/** Waits for a process, whose ends of these sockets are closed when it has ended. */
async function ended(pid: number, sockets: readonly Socket[]): Promise<Exit> {
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  const status = new Int32Array(1)
  while (library().waitpid(pid, status, WNOHANG) === 0) await sleep(REAP_MS)
  const number = status[0]! & 0x7f
  if (number === 0) return { code: status[0]! >> 8, signal: null }
  const [signal] = Object.entries(constants.signals).find(([, value]) => value === number) ?? []
  return { code: null, signal: signal as NodeJS.Signals }
}
