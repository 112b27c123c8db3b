import { useState } from 'preact/hooks'
import { messageOf } from '../api.ts'

/**
 * Work that the user starts, as by sending a form: `busy` while it is under way, `error` when it has failed and until it
 * is started again. Given to a form as `onSubmit`, `attempt` keeps the browser from sending the form itself.
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
