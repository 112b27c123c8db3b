import type { ComponentChildren } from 'preact'

/** The head of a page: breadcrumbs, title and actions. */
export function PageHead(props: {
  readonly trail?: readonly { readonly label: string; readonly href: string }[]
  readonly title: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children?: ComponentChildren
}) {
  return (
    <header class="page-head">
      {props.trail && (
        <nav class="trail" aria-label="Where you are">
          <ol>
            {props.trail.map((step) => (
              <li key={step.href}>
                <a href={step.href}>{step.label}</a>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <div class="page-title">
        <h1>{props.title}</h1>
        {props.actions && <div class="actions">{props.actions}</div>}
      </div>
      {props.children}
    </header>
  )
}
