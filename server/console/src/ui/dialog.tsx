import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icons.tsx'

/** A modal window. The browser's own dialog keeps the focus inside, and closes on Escape. */
export function Dialog(props: {
  readonly title: string
  readonly wide?: boolean
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const opened = dialog.current!
    if (!opened.open) opened.showModal()
    return () => opened.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class={props.wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        props.onClose()
      }}
    >
      <header class="dialog-head">
        <h2 id={titleId}>{props.title}</h2>
        <button
          type="button"
          class="button button-quiet button-icon"
          aria-label="Close"
          onClick={props.onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      {props.children}
    </dialog>
  )
}
