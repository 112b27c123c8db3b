// Loaded into a server before it starts. In a request with the header `x-fault: N`, the Nth callback of a timer, a tick or
// an event throws.
import { EventEmitter } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'
import { current } from '../../../server/guards/uncaught.ts'

const counts = new WeakMap()

function maybeThrow(kind) {
  const request = current.getStore()?.request
  const at = Number(request?.headers['x-fault'])
  if (!(at >= 0)) return
  const count = counts.get(request) ?? 0
  counts.set(request, count + 1)
  if (count === at) throw new Error(`a fault in ${kind}`)
}

const guarded = (kind, callback) =>
  function (...args) {
    maybeThrow(kind)
    return callback.apply(this, args)
  }

for (const name of ['setTimeout', 'setImmediate']) {
  const original = globalThis[name]
  const patched = (callback, ...rest) => original(guarded(name, callback), ...rest)
  // `util.promisify` looks for what the original has.
  Object.defineProperties(patched, Object.getOwnPropertyDescriptors(original))
  globalThis[name] = patched
  timers[name] = patched
}
const { nextTick } = process
process.nextTick = (callback, ...args) => nextTick(guarded('nextTick', callback), ...args)
const { emit } = EventEmitter.prototype
EventEmitter.prototype.emit = function (name, ...args) {
  // An event `error` of our own would be counted again while the first is handled.
  if (name !== 'error' && name !== 'uncaughtException') maybeThrow(`the event ${String(name)}`)
  return emit.call(this, name, ...args)
}
syncBuiltinESMExports()
