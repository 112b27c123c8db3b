import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Detects work of a transaction that writes through another handle than the transaction's. Such a write would wait for
 * the end of the transaction while the transaction waits for the write.
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

  /** @throws Error when it is called from the work of a transaction, which is a defect of the caller */
  require(): void {
    if (this.#open.getStore()?.isOpen) throw new Error('a transaction writes past its own handle')
  }
}
