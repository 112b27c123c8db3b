import { Icon, type IconName } from './icons.tsx'

/** What can be done: what it is called, and where it leads or what it does. */
export interface Action {
  readonly icon?: IconName
  readonly says: string
  readonly to: string | (() => unknown)
}

/** A button, or a link that looks like one. */
export function Button(
  props: Partial<Action> & {
    /** Classes of controls.css without their `button-`, separated by blanks. */
    readonly look?: string
    /** The name for screen readers, and of a button that shows its icon alone. */
    readonly label?: string
    /** Opens the link in another tab. */
    readonly apart?: boolean
    readonly submit?: boolean
    readonly disabled?: boolean
  },
) {
  const { icon, label, says, to } = props
  const looks = [...(props.look ? props.look.split(' ') : []), ...(says === undefined ? ['icon'] : [])]
  const common = {
    class: ['button', ...looks.map((look) => `button-${look}`)].join(' '),
    'aria-label': label,
    title: label,
  }
  const content = (
    <>
      {icon && <Icon name={icon} />}
      {says !== undefined && <span>{says}</span>}
    </>
  )
  if (typeof to === 'string') {
    return (
      <a {...common} href={to} {...(props.apart && { target: '_blank', rel: 'noreferrer' })}>
        {content}
      </a>
    )
  }
  return (
    <button
      {...common}
      type={props.submit ? 'submit' : 'button'}
      disabled={props.disabled ?? false}
      onClick={() => to?.()}
    >
      {content}
    </button>
  )
}
