import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useEvent } from '../hooks.ts'
import { Button } from './button.tsx'

interface Opened {
  readonly title: string
  readonly wide?: boolean
  /** What is in it, given the function that closes it. */
  readonly content: (close: () => void) => ComponentChildren
}

/** Opens a window over the page. It closes when its content does so, and when another address is opened. */
export let openDialog: (opened: Opened) => void = () => undefined

export function DialogHost() {
  const [opened, setOpened] = useState<Opened>()
  useEffect(() => {
    openDialog = setOpened
  }, [])
  useEvent('hashchange', () => setOpened(undefined))
  // What an answer opens must not be closed together with the question.
  const close = () => setOpened((now) => (now === opened ? undefined : now))
  return opened && <Dialog key={opened} {...opened} onClose={close} />
}

/** A modal window. The browser's own dialog keeps the focus inside, and closes on Escape. */
function Dialog({ title, wide, content, onClose }: Opened & { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const opened = dialog.current!
    opened.showModal()
    const first = opened.querySelector<HTMLElement>('form :is(input, select, textarea)')
    first?.focus()
    // A name that is suggested gives way to one that is typed.
    if (first instanceof HTMLInputElement) first.select()
    // Gives the focus back to where it was.
    return () => opened.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={titleId}
      onClose={onClose}
    >
      <header class="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <Button look="quiet" icon="close" label="Close" to={onClose} />
      </header>
      {content(onClose)}
    </dialog>
  )
}
