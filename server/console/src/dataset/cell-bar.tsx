import type { Column } from '../../../client/index.ts'
import type { Field } from '../csv.ts'
import { formatCount } from '../format.ts'
import { copyText } from '../ui/copy.tsx'
import { Icon } from '../ui/icons.tsx'

/** The selected cell in full, and the actions on it. */
export function CellBar(props: {
  readonly column: Column | undefined
  readonly row: number | undefined
  readonly value: Field | undefined
  /** Undefined if rows can't be filtered by the column. */
  readonly onKeep: (() => void) | undefined
  readonly onLeaveOut: (() => void) | undefined
}) {
  const { column, value } = props
  if (!column || props.row === undefined) {
    return (
      <div class="cell-bar cell-bar-idle">
        <p>
          Choose a cell to see all of it. Arrow keys move, <kbd>Ctrl</kbd> <kbd>End</kbd> goes to the last
          row.
        </p>
      </div>
    )
  }
  return (
    <div class="cell-bar">
      <p class="cell-bar-place">
        <strong>{column.name}</strong>
        <span class="figures">row {formatCount(props.row + 1)}</span>
      </p>
      <output class="cell-bar-value">
        {value === null ? <span class="null">null</span> : value === '' ? <em>empty text</em> : value}
      </output>
      <div class="actions">
        <button type="button" class="button button-small" onClick={() => copyText(value ?? '', 'Cell')}>
          <Icon name="copy" />
          <span>Copy</span>
        </button>
        {props.onKeep && (
          <button type="button" class="button button-small" onClick={props.onKeep}>
            Only these
          </button>
        )}
        {props.onLeaveOut && (
          <button type="button" class="button button-small" onClick={props.onLeaveOut}>
            Without these
          </button>
        )}
      </div>
    </div>
  )
}
