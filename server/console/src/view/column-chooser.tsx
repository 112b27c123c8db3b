import type { Column } from '../../../client/index.ts'
import { formatCount } from '../format.ts'
import { updateQuery } from '../router.ts'
import { Button } from '../ui/button.tsx'
import { Check, useSearch } from '../ui/field.tsx'
import { moved, toggled, type View, writeShown } from './view.ts'

/** Finds, hides and reorders the columns of the table. Copies and downloads have the same columns. */
export function ColumnChooser(view: View) {
  const { columns, shown } = view
  const show = (some: readonly Column[]) => updateQuery({ columns: writeShown(some, columns) })
  const hidden = columns.filter((column) => !shown.includes(column))
  const { box, search, found } = useSearch(
    'Find a column',
    [...shown, ...hidden],
    ({ name, type, description }) => `${name} ${type} ${description}`,
  )
  const isSearched = search.trim() !== ''
  return (
    <>
      {box}
      <p class="hint" role="status">
        {formatCount(shown.length)} of {formatCount(columns.length)} shown
        {isSearched && `, ${formatCount(found.length)} found`}
      </p>
      <ul class="column-list">
        {found.map((column) => (
          <ColumnLine key={column.name} {...{ column, columns, shown, show }} />
        ))}
      </ul>
      {found.length === 0 && <p class="hint">No column has “{search}” in its name, type or description.</p>}
      <div class="actions">
        <Button
          look="small"
          disabled={!isSearched || found.length === 0}
          to={() => show(found)}
          says="Show only these"
        />
        <Button
          look="small"
          disabled={writeShown(shown, columns) === ''}
          to={() => show(columns)}
          says="Show all"
        />
      </div>
    </>
  )
}

function ColumnLine(
  props: Pick<View, 'columns' | 'shown'> & {
    readonly column: Column
    readonly show: (columns: readonly Column[]) => void
  },
) {
  const { column, columns, shown, show } = props
  const isShown = shown.includes(column)
  const action = (icon: 'up' | 'down' | 'search', label: string, onClick: () => void) => (
    <Button look="quiet" icon={icon} label={label} to={onClick} />
  )
  return (
    <li class={isShown ? 'column-line' : 'column-line is-hidden'}>
      <Check
        checked={isShown}
        // The last visible column can't be hidden.
        disabled={isShown && shown.length === 1}
        onChecked={() => show(toggled(shown, columns, column))}
      >
        {column.name === '' ? '(no name)' : column.name} <span class="type">{column.type}</span>
      </Check>
      {isShown && (
        <span class="column-line-actions">
          {action('up', `Move ${column.name} to the left`, () => show(moved(shown, column, -1)))}
          {action('down', `Move ${column.name} to the right`, () => show(moved(shown, column, 1)))}
          {action('search', `Go to ${column.name}`, () => updateQuery({ at: column.name }))}
        </span>
      )}
    </li>
  )
}
