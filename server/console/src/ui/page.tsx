import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { href } from '../router.ts'
import type { Action } from './button.tsx'
import { Icon, type IconName } from './icons.tsx'
import { moveFocus } from './menu.tsx'

/** A page with its head: breadcrumbs, title, actions, and what `intro` says about it. */
export function Page(props: {
  readonly trail?: readonly (readonly [label: string, href: string])[]
  readonly title: string
  readonly badge?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly intro?: ComponentChildren
  /** Whether it has the height of the window, for a table that scrolls by itself. */
  readonly full?: boolean
  readonly children: ComponentChildren
}) {
  useEffect(() => {
    document.title = `${props.title} · Parquetry`
  }, [props.title])
  return (
    <div class={props.full ? 'page page-full' : 'page'}>
      <header class="page-head">
        {props.trail && (
          <nav class="trail" aria-label="Where you are">
            <ol>
              {props.trail.map(([label, address]) => (
                <li key={address}>
                  <a href={address}>{label}</a>
                </li>
              ))}
            </ol>
          </nav>
        )}
        <div class="page-title">
          <h1>
            {props.title} {props.badge}
          </h1>
          {props.actions && <div class="actions">{props.actions}</div>}
        </div>
        {props.intro}
      </header>
      {props.children}
    </div>
  )
}

export function Card(props: {
  readonly title: ComponentChildren
  readonly head?: ComponentChildren
  readonly hint?: ComponentChildren
  readonly children: ComponentChildren
}) {
  const id = useId()
  return (
    <section class="card" aria-labelledby={id}>
      <div class="section-head">
        <h2 id={id}>{props.title}</h2>
        {props.head}
      </div>
      {props.hint && <p class="hint">{props.hint}</p>}
      {props.children}
    </section>
  )
}

/** The first step of most trails. */
export const DATA = ['Data', href([])] as const
export const ALL_DATA: Action = { says: 'All data', to: href([]) }

/** Tabs. The arrow keys move between them; the Tab key leaves them. */
export function Tabs<T extends string>(props: {
  readonly label: string
  readonly value: T
  readonly tabs: readonly { readonly value: T; readonly label: string; readonly icon?: IconName }[]
  readonly onValue: (value: T) => void
}) {
  const strip = useRef<HTMLDivElement>(null)
  useEffect(() => {
    strip.current
      ?.querySelector('[aria-selected="true"]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [props.value])
  return (
    <div
      ref={strip}
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
