import { useRef } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'

/** Tabs. The arrow keys move between them; the Tab key leaves them. */
export function Tabs<T extends string>(props: {
  readonly label: string
  readonly value: T
  readonly tabs: readonly { readonly value: T; readonly label: string; readonly icon?: IconName }[]
  readonly onValue: (value: T) => void
}) {
  const list = useRef<HTMLDivElement>(null)
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const { tabs } = props
    const at = tabs.findIndex((tab) => tab.value === props.value)
    const next = tabs[(at + step + tabs.length) % tabs.length]!
    props.onValue(next.value)
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.value}"]`)?.focus()
  }
  return (
    <div class="tabs" role="tablist" aria-label={props.label} ref={list} onKeyDown={onKeyDown}>
      {props.tabs.map((tab) => (
        <button
          key={tab.value}
          type="button"
          class="tab"
          role="tab"
          data-tab={tab.value}
          aria-selected={tab.value === props.value}
          aria-controls={tab.value === props.value ? `panel-${tab.value}` : undefined}
          tabIndex={tab.value === props.value ? 0 : -1}
          onClick={() => props.onValue(tab.value)}
        >
          {tab.icon && <Icon name={tab.icon} />}
          <span>{tab.label}</span>
        </button>
      ))}
    </div>
  )
}
