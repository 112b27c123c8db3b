import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icons.tsx'

/** A button, or with `href` a link that looks like one. */
export function Button(props: {
  readonly icon?: IconName
  /** Classes of controls.css without their `button-`, separated by blanks. */
  readonly look?: string
  /** The name of a button that shows its icon alone. */
  readonly label?: string
  readonly href?: string
  /** Opens the link in another tab. */
  readonly apart?: boolean
  readonly submit?: boolean
  readonly disabled?: boolean
  readonly expanded?: boolean
  readonly onClick?: (() => unknown) | undefined
  readonly children?: ComponentChildren
}) {
  const { icon, label, href, children } = props
  const looks = [...(props.look?.split(' ') ?? []), ...(children === undefined ? ['icon'] : [])]
  const common = {
    class: ['button', ...looks.map((look) => `button-${look}`)].join(' '),
    'aria-label': label,
    title: label,
  }
  const content = (
    <>
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </>
  )
  if (href !== undefined) {
    return (
      <a {...common} href={href} {...(props.apart && { target: '_blank', rel: 'noreferrer' })}>
        {content}
      </a>
    )
  }
  return (
    <button
      {...common}
      type={props.submit ? 'submit' : 'button'}
      disabled={props.disabled ?? false}
      aria-expanded={props.expanded}
      onClick={() => props.onClick?.()}
    >
      {content}
    </button>
  )
}
