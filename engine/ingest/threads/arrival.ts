/** How many bytes of a file are there while it is being written, for all threads; below zero once it is whole. */
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

/** Resolves when there is more than `bytes`, or no more to come. */
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
