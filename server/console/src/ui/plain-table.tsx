// biome-ignore-all lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reached by keys
import type { ComponentChildren } from 'preact'

/** A table of few rows. It scrolls sideways by itself. */
export function PlainTable(props: {
  readonly label: string
  readonly head: readonly ComponentChildren[]
  /** The columns of numbers, by their places. */
  readonly right?: (column: number) => boolean
  readonly rows: readonly (readonly ComponentChildren[])[]
  /** Whether each row is a card on a narrow screen; the heads are texts then. */
  readonly hasCards?: boolean
}) {
  const look = (at: number) => (props.right?.(at) ? 'is-right figures' : undefined)
  return (
    <section class="scroll-x" tabIndex={0} aria-label={props.label}>
      <table class={props.hasCards ? 'plain-table has-cards' : 'plain-table'}>
        <thead>
          <tr>
            {props.head.map((cell, at) => (
              <th key={at} scope="col" class={look(at)}>
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row, line) => (
            <tr key={line}>
              {row.map((cell, at) => (
                <td key={at} class={look(at)} data-head={props.hasCards ? props.head[at] : undefined}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
