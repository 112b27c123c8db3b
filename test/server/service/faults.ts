import { EventEmitter } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'
import { current } from '../../../server/guards/uncaught.ts'

// Loaded into a server before it starts. In a request with the header `x-fault: N`, the Nth callback of a timer, a tick or
// an event throws.

type Callback = (...args: unknown[]) => unknown

const counts = new WeakMap<object, number>()

function maybeThrow(kind: string): void {
  const request = current.getStore()?.request
  const at = Number(request?.headers['x-fault'])
  if (!request || !(at >= 0)) return
  const count = counts.get(request) ?? 0
  counts.set(request, count + 1)
  if (count === at) throw new Error(`a fault in ${kind}`)
}

function guarded(kind: string, callback: Callback): Callback {
  return function (this: unknown, ...args) {
    maybeThrow(kind)
    return callback.apply(this, args)
  }
}

for (const name of ['setTimeout', 'setImmediate'] as const) {
  const original = globalThis[name] as unknown as Callback
  const patched = (callback: Callback, ...rest: unknown[]) => original(guarded(name, callback), ...rest)
  // `util.promisify` looks for what the original has.
  Object.defineProperties(patched, Object.getOwnPropertyDescriptors(original))
  Object.assign(globalThis, { [name]: patched })
  Object.assign(timers, { [name]: patched })
}

const { nextTick } = process
process.nextTick = (callback: Callback, ...args: unknown[]) =>
  nextTick(guarded('nextTick', callback), ...args)

const { emit } = EventEmitter.prototype
EventEmitter.prototype.emit = function (name: string | symbol, ...args: unknown[]) {
  // An error event of our own would be counted again while the first is handled.
  if (name !== 'error' && name !== 'uncaughtException') maybeThrow(`the event ${String(name)}`)
  return emit.call(this, name, ...args)
}
syncBuiltinESMExports()
