import { useId, useRef } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'
import { moveFocus } from './move-focus.ts'

export interface MenuItem {
  readonly icon: IconName
  readonly label: string
  readonly danger?: boolean
  /** Where it leads, or what it does. */
  readonly to: string | (() => unknown)
}

/** A button that opens a menu under it. The browser closes it on Escape and on a click elsewhere. */
export function Menu(props: { readonly label: string; readonly items: readonly MenuItem[] }) {
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
        {props.items.map(({ icon, label, danger, to }) => {
          const [Tag, does] =
            typeof to === 'string'
              ? (['a', { href: to }] as const)
              : (['button', { type: 'button', onClick: to }] as const)
          return (
            <Tag key={label} class={danger ? 'menu-item is-danger' : 'menu-item'} {...does}>
              <Icon name={icon} />
              {label}
            </Tag>
          )
        })}
      </div>
    </>
  )
}
