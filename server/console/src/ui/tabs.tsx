import { Icon, type IconName } from './icons.tsx'
import { moveFocus } from './menu.tsx'

/** Tabs. The arrow keys move between them; the Tab key leaves them. */
export function Tabs<T extends string>(props: {
  readonly label: string
  readonly value: T
  readonly tabs: readonly { readonly value: T; readonly label: string; readonly icon?: IconName }[]
  readonly onValue: (value: T) => void
}) {
  return (
    <div
      class="tabs"
      role="tablist"
      aria-label={props.label}
      onKeyDown={(event) => moveFocus(event, '.tab', 'ArrowLeft', 'ArrowRight')}
    >
      {props.tabs.map(({ value, label, icon }) => (
        <button
          key={value}
          type="button"
          class="tab"
          role="tab"
          aria-selected={value === props.value}
          aria-controls={value === props.value ? `panel-${value}` : undefined}
          tabIndex={value === props.value ? 0 : -1}
          onFocus={(event) => event.currentTarget.matches(':focus-visible') && props.onValue(value)}
          onClick={() => props.onValue(value)}
        >
          {icon && <Icon name={icon} />}
          <span>{label}</span>
        </button>
      ))}
    </div>
  )
}
