import { useId, useRef } from 'preact/hooks'
import type { Action } from './button.tsx'
import { Icon, type IconName } from './icons.tsx'

export type MenuItem = Action & { readonly icon: IconName; readonly danger?: boolean }

/** A button that opens a menu under it. The browser closes it on Escape and on a click elsewhere. */
export function Menu(props: { readonly label: string; readonly items: readonly (MenuItem | false)[] }) {
  const id = useId()
  const popover = useRef<HTMLDivElement>(null)
  return (
    <>
      <button type="button" class="button" popovertarget={id}>
        <Icon name="more" />
        <span>{props.label}</span>
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only hears the keys and clicks of what is inside */}
      <div
        id={id}
        ref={popover}
        class="popover"
        popover="auto"
        onToggle={(event) =>
          event.newState === 'open' && popover.current?.querySelector<HTMLElement>('.menu-item')?.focus()
        }
        onKeyDown={(event) => moveFocus(event, '.menu-item', 'ArrowUp', 'ArrowDown')}
        onClick={() => popover.current?.hidePopover()}
      >
        {props.items
          .filter((item) => item !== false)
          .map(({ icon, says, danger, to }) => {
            const [Tag, does] =
              typeof to === 'string'
                ? (['a', { href: to }] as const)
                : (['button', { type: 'button', onClick: to }] as const)
            return (
              <Tag key={says} class={danger ? 'menu-item is-danger' : 'menu-item'} {...does}>
                <Icon name={icon} />
                {says}
              </Tag>
            )
          })}
      </div>
    </>
  )
}

/** Moves the focus to the element before or after, among those inside that match, and round at the ends. */
export function moveFocus(event: KeyboardEvent, selector: string, before: string, after: string): void {
  const step = event.key === after ? 1 : event.key === before ? -1 : 0
  if (step === 0) return
  event.preventDefault()
  const stops = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(selector)]
  const at = stops.indexOf(document.activeElement as HTMLElement)
  stops[(at + step + stops.length) % stops.length]?.focus()
}
