import { useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { formatCount } from '../format.ts'
import { Button } from '../ui/button.tsx'
import { Check, SearchBox } from '../ui/field.tsx'
import { moved, toggled } from './shown-columns.ts'

interface ChooserProps {
  readonly columns: readonly Column[]
  readonly shown: readonly Column[]
  readonly onShown: (shown: readonly Column[]) => void
  /** Scrolls to a column. */
  readonly onGoTo: (column: Column) => void
}

/** Finds, hides and reorders the columns of the table. Copies and downloads have the same columns. */
export function ColumnChooser(props: ChooserProps) {
  const { columns, shown, onShown } = props
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const fits = ({ name, type, description }: Column) =>
    `${name} ${type} ${description}`.toLowerCase().includes(wanted)
  const hidden = columns.filter((column) => !shown.includes(column))
  const found = [...shown, ...hidden].filter(fits)
  const isAll = shown.length === columns.length && shown.every((column, at) => column === columns[at])
  return (
    <>
      <SearchBox label="Find a column" value={search} onValue={setSearch} />
      <p class="hint" role="status">
        {formatCount(shown.length)} of {formatCount(columns.length)} shown
        {wanted === '' ? '' : `, ${formatCount(found.length)} found`}
      </p>
      <ul class="column-list">
        {found.map((column) => (
          <ColumnLine key={column.name} {...props} column={column} />
        ))}
      </ul>
      {found.length === 0 && <p class="hint">No column has “{search}” in its name, type or description.</p>}
      <div class="actions">
        <Button
          look="small"
          disabled={wanted === '' || found.length === 0}
          onClick={() => onShown([...shown.filter(fits), ...hidden.filter(fits)])}
        >
          Show only these
        </Button>
        <Button look="small" disabled={isAll} onClick={() => onShown(columns)}>
          Show all
        </Button>
      </div>
    </>
  )
}

function ColumnLine(props: ChooserProps & { readonly column: Column }) {
  const { column, columns, shown, onShown } = props
  const isShown = shown.includes(column)
  const action = (icon: 'up' | 'down' | 'search', label: string, onClick: () => void) => (
    <Button look="quiet" icon={icon} label={label} onClick={onClick} />
  )
  return (
    <li class={isShown ? 'column-line' : 'column-line is-hidden'}>
      <Check
        checked={isShown}
        // The last visible column can't be hidden.
        disabled={isShown && shown.length === 1}
        onChecked={() => onShown(toggled(shown, columns, column))}
      >
        {column.name === '' ? '(no name)' : column.name} <span class="type">{column.type}</span>
      </Check>
      {isShown && (
        <span class="column-line-actions">
          {action('up', `Move ${column.name} to the left`, () => onShown(moved(shown, column, -1)))}
          {action('down', `Move ${column.name} to the right`, () => onShown(moved(shown, column, 1)))}
          {action('search', `Go to ${column.name}`, () => props.onGoTo(column))}
        </span>
      )}
    </li>
  )
}
