import { useState } from 'preact/hooks'
import { messageOf } from '../api.ts'

/**
 * Runs work that the user starts, such as sending a form. `busy` is true while it runs; `error` is set if it failed,
 * until it is started again. If a form gets `attempt` as `onSubmit`, the browser doesn't submit the form itself.
 */
export function useAttempt<Args extends unknown[]>(work: (...args: Args) => Promise<unknown>) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const attempt = async (...args: Args | [Event]) => {
    if (args[0] instanceof Event) args[0].preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await work(...(args as Args))
    } catch (failure) {
      setError(messageOf(failure))
    }
    setBusy(false)
  }
  return { busy, error, attempt }
}
