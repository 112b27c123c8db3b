import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Button } from './button.tsx'

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
        <Button look="quiet" icon="close" label="Close" onClick={props.onClose} />
      </header>
      {props.children}
    </dialog>
  )
}

/** A `Dialog`, given the function that closes it. */
type Content = (close: () => void) => ComponentChildren

let show: (content: Content) => void = () => undefined

/** Opens a window over the page. It closes when its content does so, and when another address is opened. */
export function openDialog(content: Content): void {
  show(content)
}

/** Where windows open. */
export function DialogHost() {
  const [content, setContent] = useState<Content>()
  const opened = useRef(0)
  useEffect(() => {
    show = (next) => {
      opened.current += 1
      setContent(() => next)
    }
    const close = () => setContent(undefined)
    addEventListener('hashchange', close)
    return () => removeEventListener('hashchange', close)
  }, [])
  // What an answer opens must not be closed together with the question.
  const close = () => setContent((now?: Content) => (now === content ? undefined : now))
  return <Fragment key={opened.current}>{content?.(close)}</Fragment>
}
