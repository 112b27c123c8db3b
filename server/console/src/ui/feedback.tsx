import type { ComponentChildren } from 'preact'
import { messageOf } from '../api.ts'
import { type Action, Button } from './button.tsx'
import { Icon, type IconName } from './icons.tsx'

/** Shown when there is no content: says what is missing and what to do next. */
export function Empty(props: {
  readonly icon: IconName
  readonly title: string
  /** Whether it fills the whole page, so that its title is the page's heading. */
  readonly page?: boolean
  readonly children?: ComponentChildren
  readonly action?: Action | undefined
}) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={props.icon} />
      </span>
      {props.page ? <h1>{props.title}</h1> : <h2>{props.title}</h2>}
      {props.children && <p>{props.children}</p>}
      {props.action && <Button look="primary" {...props.action} />}
    </div>
  )
}

/** Shows an error in place of the content that could not be loaded. */
export function Failure(props: {
  readonly error: unknown
  readonly onRetry?: () => void
  readonly children?: ComponentChildren
}) {
  return (
    <div class="note note-error" role="alert">
      <Icon name="warning" />
      <div>
        <p>{messageOf(props.error)}</p>
        {props.children}
      </div>
      {props.onRetry && <Button look="small" to={props.onRetry} says="Try again" />}
    </div>
  )
}

export function Note(props: { readonly icon?: IconName; readonly children: ComponentChildren }) {
  return (
    <div class="note">
      <Icon name={props.icon ?? 'info'} />
      <div>{props.children}</div>
    </div>
  )
}

/** Placeholder lines for content that is loading. */
export function Loading(props: {
  readonly label: string
  readonly lines?: number
  /** Whether it fills the whole page, whose title isn't known yet. */
  readonly page?: boolean
}) {
  const Label = props.page ? 'h1' : 'span'
  return (
    <div class="loading" role="status">
      <Label class="visually-hidden">{props.label}</Label>
      {Array.from({ length: props.lines ?? 4 }, (_, at) => (
        <span key={at} class="skeleton" />
      ))}
    </div>
  )
}

/** A progress bar. `share` is from 0 to 1, or undefined if the total is unknown. */
export function Progress(props: { readonly label: string; readonly share: number | undefined }) {
  return (
    <progress
      class="progress"
      aria-label={props.label}
      max={1}
      {...(props.share === undefined ? {} : { value: props.share })}
    />
  )
}
