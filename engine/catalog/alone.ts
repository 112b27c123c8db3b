import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Finds work of a transaction that writes past the transaction's handle. It would wait for the end of the transaction,
 * and the transaction for it.
 */
export class Alone {
  readonly #open = new AsyncLocalStorage<{ isOpen: boolean }>()

  /** Runs the work of a transaction. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const transaction = { isOpen: true }
    try {
      return await this.#open.run(transaction, work)
    } finally {
      transaction.isOpen = false
    }
  }

  /** @throws Error in the work of a transaction; a defect */
  require(): void {
    if (this.#open.getStore()?.isOpen) throw new Error('a transaction writes past its own handle')
  }
}
