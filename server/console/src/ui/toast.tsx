import { useEffect, useState } from 'preact/hooks'

/** Short messages at the bottom of the window, read out by screen readers. */
interface Message {
  readonly id: number
  readonly text: string
}

const SHOWN_MS = 5_000
/** The most messages shown at once, so that they don't cover the page. */
const MOST = 3
let last = 0
let show: (message: Message) => void = () => undefined

/** Shows a message that something has been done. */
export function announce(text: string): void {
  last += 1
  show({ id: last, text })
}

export function Toasts() {
  const [messages, setMessages] = useState<readonly Message[]>([])
  useEffect(() => {
    show = (message) => {
      setMessages((before) => [...before.slice(1 - MOST), message])
      setTimeout(() => setMessages((before) => before.filter(({ id }) => id !== message.id)), SHOWN_MS)
    }
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {messages.map(({ id, text }) => (
        <p key={id} class="toast">
          {text}
        </p>
      ))}
    </div>
  )
}
