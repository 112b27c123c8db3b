import { createRequire } from 'node:module'
import type { LibraryHandle } from 'koffi'

type Koffi = typeof import('koffi')
/** A function of a library. */
export type KoffiFunction = ReturnType<LibraryHandle['func']>

/** Koffi runs C code on stacks of its own. Its default for asynchronous calls, 128 KiB, is little for a planner. */
const STACK_BYTES = 8 << 20

/** Loads koffi when native code is first needed, and gives it its settings, which it takes only before it loads a library. */
export function loadKoffi(): Koffi {
  const koffi = createRequire(import.meta.url)('koffi') as Koffi
  if (koffi.config().async_stack_size !== STACK_BYTES) {
    koffi.config({
      sync_stack_size: STACK_BYTES,
      async_stack_size: STACK_BYTES,
      resident_async_pools: 32,
      max_async_calls: 1024,
    })
  }
  return koffi
}
