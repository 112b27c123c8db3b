import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'

/** A button that opens a small panel under it. Escape and a click elsewhere close it. */
export function Popover(props: {
  readonly label: string
  readonly icon?: IconName
  readonly buttonClass?: string
  readonly children: (close: () => void) => ComponentChildren
}) {
  const [open, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const close = () => {
    setOpen(false)
    root.current?.querySelector('button')?.focus()
  }
  useEffect(() => {
    if (!open) return
    const onPointer = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false)
    }
    addEventListener('pointerdown', onPointer)
    root.current?.querySelector<HTMLElement>('.popover button, .popover a, .popover input')?.focus()
    return () => removeEventListener('pointerdown', onPointer)
  }, [open])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears the keys of what is inside
    <div
      class="popover-root"
      ref={root}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && open) {
          event.stopPropagation()
          close()
        } else if (open) moveFocus(event)
      }}
    >
      <button
        type="button"
        class={`button ${props.buttonClass ?? ''}`}
        aria-haspopup="true"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {props.icon && <Icon name={props.icon} />}
        <span>{props.label}</span>
      </button>
      {open && <div class="popover">{props.children(close)}</div>}
    </div>
  )
}

/** Up and down go from button to button, as in a menu. */
function moveFocus(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const panel = (event.currentTarget as HTMLElement).querySelector('.popover')
  const stops = [...(panel?.querySelectorAll<HTMLElement>('button, a') ?? [])]
  const at = stops.indexOf(document.activeElement as HTMLElement)
  if (stops.length === 0 || (event.target as HTMLElement).tagName === 'TEXTAREA') return
  event.preventDefault()
  const step = event.key === 'ArrowDown' ? 1 : -1
  stops[(at + step + stops.length) % stops.length]?.focus()
}
