import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { Button } from './button.tsx'
import { changed } from './resource.tsx'

/** A short message at the bottom of the window, read out by screen readers. */
interface Message {
  readonly id: number
  readonly text: string
  readonly undo?: (() => Promise<unknown>) | undefined
}

const SHOWN_MS = 5_000
/** Whoever wants to undo needs time to see what has happened. */
const SHOWN_TO_UNDO_MS = 15_000
/** The most messages shown at once, so that they don't cover the page. */
const MOST = 3
let last = 0
let show: (message: Message) => void = () => undefined

/** Shows a message that something has been done, and a button that undoes it where that is possible. */
export function announce(text: string, undo?: () => Promise<unknown>): void {
  last += 1
  show({ id: last, text, undo })
}

/** Says why something has failed. */
export function complain(failure: unknown): void {
  announce(messageOf(failure))
}

/**
 * Does something at once and says so, with a way back where there is one; or says why it failed. Then all that is shown
 * is fetched again.
 */
export async function perform(
  action: () => Promise<unknown>,
  done: string,
  undo?: () => Promise<unknown>,
): Promise<void> {
  await action().then(() => announce(done, undo), complain)
  changed()
}

export function Toasts() {
  const [messages, setMessages] = useState<readonly Message[]>([])
  const drop = (id: number) => setMessages((before) => before.filter((message) => message.id !== id))
  useEffect(() => {
    show = (message) => {
      setMessages((before) => [...before.slice(1 - MOST), message])
      setTimeout(() => drop(message.id), message.undo ? SHOWN_TO_UNDO_MS : SHOWN_MS)
    }
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {messages.map((message) => (
        <div key={message.id} class="toast">
          <p>{message.text}</p>
          {message.undo && (
            <Button
              look="small"
              to={() => {
                drop(message.id)
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
