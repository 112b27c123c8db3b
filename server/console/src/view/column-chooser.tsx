import { useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { formatCount } from '../format.ts'
import { Dialog } from '../ui/dialog.tsx'
import { SearchBox } from '../ui/field.tsx'
import { Icon } from '../ui/icons.tsx'
import { moved, toggled } from './shown-columns.ts'

/** Finds, hides and reorders the columns of the table. Copies and downloads have the same columns. */
export function ColumnChooser(props: {
  readonly columns: readonly Column[]
  readonly shown: readonly Column[]
  readonly onShown: (shown: readonly Column[]) => void
  /** Scrolls to a column. */
  readonly onGoTo: (column: Column) => void
  readonly onClose: () => void
}) {
  const { columns, shown } = props
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const fits = ({ name, type, description }: Column) =>
    `${name} ${type} ${description}`.toLowerCase().includes(wanted)
  const hidden = columns.filter((column) => !shown.includes(column))
  const found = [...shown, ...hidden].filter(fits)
  const showOnly = () => {
    const kept = shown.filter(fits)
    props.onShown([...kept, ...hidden.filter(fits)])
  }
  return (
    <Dialog title="Columns" onClose={props.onClose}>
      <div class="dialog-body">
        <SearchBox label="Find a column" value={search} onValue={setSearch} />
        <p class="hint" role="status">
          {formatCount(shown.length)} of {formatCount(columns.length)} shown
          {wanted === '' ? '' : `, ${formatCount(found.length)} found`}
        </p>
        <ul class="column-list">
          {found.map((column) => (
            <ColumnLine
              key={column.name}
              column={column}
              isShown={shown.includes(column)}
              isLast={shown.length === 1}
              onToggle={() => props.onShown(toggled(shown, columns, column))}
              onMove={(step) => props.onShown(moved(shown, column, step))}
              onGoTo={() => props.onGoTo(column)}
            />
          ))}
        </ul>
        {found.length === 0 && <p class="hint">No column has “{search}” in its name, type or description.</p>}
      </div>
      <footer class="dialog-foot">
        <button
          type="button"
          class="button"
          disabled={wanted === '' || found.length === 0}
          onClick={showOnly}
        >
          Show only these
        </button>
        <button
          type="button"
          class="button"
          disabled={shown.length === columns.length && shown.every((column, at) => column === columns[at])}
          onClick={() => props.onShown(columns)}
        >
          Show all
        </button>
        <button type="button" class="button button-primary" onClick={props.onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  )
}

function ColumnLine(props: {
  readonly column: Column
  readonly isShown: boolean
  readonly isLast: boolean
  readonly onToggle: () => void
  readonly onMove: (step: number) => void
  readonly onGoTo: () => void
}) {
  const { column, isShown } = props
  return (
    <li class={isShown ? 'column-line' : 'column-line is-hidden'}>
      <label class="check">
        <input
          type="checkbox"
          checked={isShown}
          // The last visible column can't be hidden.
          disabled={isShown && props.isLast}
          onChange={props.onToggle}
        />
        <span class="column-line-name">{column.name === '' ? '(no name)' : column.name}</span>
      </label>
      <span class="column-line-type">{column.type}</span>
      {isShown && (
        <span class="column-line-actions">
          <button
            type="button"
            class="button button-quiet button-icon"
            aria-label={`Move ${column.name} to the left`}
            onClick={() => props.onMove(-1)}
          >
            <Icon name="up" />
          </button>
          <button
            type="button"
            class="button button-quiet button-icon"
            aria-label={`Move ${column.name} to the right`}
            onClick={() => props.onMove(1)}
          >
            <Icon name="down" />
          </button>
          <button
            type="button"
            class="button button-quiet button-icon"
            aria-label={`Go to ${column.name}`}
            onClick={props.onGoTo}
          >
            <Icon name="search" />
          </button>
        </span>
      )}
    </li>
  )
}
