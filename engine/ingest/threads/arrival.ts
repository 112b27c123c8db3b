/** The number of bytes of a file that have been written so far, shared by all threads; -1 once all of it is written. */
export type Arrival = BigInt64Array<SharedArrayBuffer>

const WHOLE = -1n

export function newArrival(): Arrival {
  return new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))
}

export function arrived(arrival: Arrival, bytes: number): void {
  tell(arrival, BigInt(bytes))
}

export function arrivedWhole(arrival: Arrival): void {
  tell(arrival, WHOLE)
}

/** Resolves when more than `bytes` bytes have arrived, or the file is complete. */
export async function arrivalBeyond(arrival: Arrival, bytes: number): Promise<void> {
  for (;;) {
    const there = Atomics.load(arrival, 0)
    if (there === WHOLE || there > bytes) return
    await Atomics.waitAsync(arrival, 0, there).value
  }
}

function tell(arrival: Arrival, there: bigint): void {
  Atomics.store(arrival, 0, there)
  Atomics.notify(arrival, 0)
}
