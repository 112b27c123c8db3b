import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { Button } from './button.tsx'
import { changed } from './resource.tsx'

/** A short message at the bottom of the window, read out by screen readers. */
interface Message {
  readonly text: string
  readonly undo?: (() => Promise<unknown>) | undefined
}

const SHOWN_MS = 5_000
/** Whoever wants to undo needs time to see what has happened. */
const SHOWN_TO_UNDO_MS = 15_000
/** The most messages shown at once, so that they don't cover the page. */
const MOST = 3

/** Shows a message that something has been done, and a button that undoes it where that is possible. */
export let announce: (text: string, undo?: () => Promise<unknown>) => void = () => undefined

export function complain(failure: unknown): void {
  announce(messageOf(failure))
}

/**
 * Does something at once and says so, with a way back where there is one; or says why it failed. Then all that is shown
 * is fetched again.
 */
export async function perform<T>(
  action: () => Promise<T>,
  done: string | ((result: T) => string),
  undo?: (result: T) => Promise<unknown>,
): Promise<void> {
  await action().then(
    (result) => announce(typeof done === 'string' ? done : done(result), undo && (() => undo(result))),
    complain,
  )
  changed()
}

export function Toasts() {
  const [messages, setMessages] = useState<readonly Message[]>([])
  const drop = (message: Message) => setMessages((before) => before.filter((one) => one !== message))
  useEffect(() => {
    announce = (text, undo) => {
      const message = { text, undo }
      setMessages((before) => [...before.slice(1 - MOST), message])
      setTimeout(() => drop(message), undo ? SHOWN_TO_UNDO_MS : SHOWN_MS)
    }
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {messages.map((message) => (
        <div key={message} class="toast">
          <p>{message.text}</p>
          {message.undo && (
            <Button
              look="small"
              to={() => {
                drop(message)
                perform(message.undo!, 'Undone.')
              }}
              says="Undo"
            />
          )}
        </div>
      ))}
    </div>
  )
}
