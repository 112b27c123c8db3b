import { useEffect, useState } from 'preact/hooks'
import { sortText } from '../../../../engine/options.ts'
import { quoteLiteral } from '../../../../engine/types/index.ts'
import type { Column, Dataset } from '../../../client/index.ts'
import { api, fetchRows, isStatus } from '../api.ts'
import type { Field } from '../csv.ts'
import { comparison } from '../filter/syntax.ts'
import { formatCount, plural } from '../format.ts'
import { type Address, href, parseAddress, updateQuery } from '../router.ts'
import { type CellPosition, Grid } from '../table/grid.tsx'
import { Button } from '../ui/button.tsx'
import { copyText } from '../ui/copy.tsx'
import { Empty, Failure, Loading } from '../ui/feedback.tsx'
import { ask } from '../ui/form.tsx'
import { announce, complain } from '../ui/toast.tsx'
import { addCondition, nextOrder, type View, viewQuery } from '../view/view.ts'
import { ApplyRefused, type CountedDataset, type Exploration } from './exploration.ts'
import { takeBack } from './going-back.ts'

/** The rows, and below them the selected cell in full. */
export function TableView(props: Exploration) {
  const { dataset, query, apply, view, rows, profiles } = props
  const { windows } = rows
  const { rowCount } = windows ?? {}
  /** The name of a column, and the number of a row from 1, to scroll to. */
  const { at: goTo, row: goToRow } = query
  const [active, setActive] = useState<CellPosition>()
  useEffect(() => setActive(undefined), [windows])
  useEffect(() => {
    if (!windows || !rowCount || (goTo === undefined && goToRow === undefined)) return
    const column = Math.max(
      0,
      windows.columns.findIndex(({ name }) => name === goTo),
    )
    const row = Math.min(Number(goToRow) || 0, rowCount) - 1
    setActive((before) => ({ row: row < 0 ? (before?.row ?? 0) : row, column }))
    // Going to the same cell once more is a change again.
    updateQuery({ at: '', row: '' })
  }, [windows, rowCount, goTo, goToRow])

  if (!windows || !rowCount) return <NoRows {...props} />
  const column = active && windows.columns[active.column]
  const value = active && windows.row(active.row)?.[active.column]
  const edit =
    props.canEdit && column && value !== undefined
      ? () => editCell(dataset, view!, active.row, column, value).catch(complain)
      : undefined
  const sort = (name: string) => {
    const next = nextOrder(view?.order, name)
    updateQuery({ orderby: next ? sortText(next) : '' })
  }
  return (
    <div class="table-view">
      {rows.error !== undefined && <Failure error={rows.error} onRetry={() => windows.retry()} />}
      <Grid
        label={`${apply === '' ? 'Rows' : 'Groups'} of ${dataset.name}`}
        windows={windows}
        busy={rows.pending}
        order={view?.order}
        profiles={apply === '' ? profiles : undefined}
        total={dataset.rowCount}
        active={active}
        onActive={setActive}
        onSort={sort}
        onEdit={edit}
      />
      {column ? (
        <CellBar {...{ dataset, query, column, value, edit }} row={active.row} />
      ) : (
        <div class="cell-bar cell-bar-idle">
          <p>
            Choose a cell to see all of it. Arrow keys move, <kbd>Ctrl</kbd> <kbd>End</kbd> goes to the last
            row.
          </p>
        </div>
      )}
    </div>
  )
}

/** Shown in place of rows: they are loading, there are none, or they can't be shown. */
function NoRows({ dataset, of, rows: { windows, error }, view }: Exploration) {
  if (error instanceof ApplyRefused) {
    return (
      <Empty icon="sum" title="The transformations have an error">
        The error is shown below the text of the form “Group and sum”. Correct or clear it to see the result
        again.
      </Empty>
    )
  }
  if (isStatus(error, 400) && (of.filter !== '' || of.search !== '')) {
    return (
      <Empty icon="filter" title="The filter has an error">
        The error is shown below the filter. Correct or clear it to see the rows again.
      </Empty>
    )
  }
  if (windows?.rowCount === undefined) {
    if (error === undefined) return <Loading label="Loading rows" lines={12} />
    return (
      <Failure error={error} onRetry={() => windows?.retry()}>
        {view?.order && (
          <Button
            look="small"
            to={() => updateQuery({ orderby: '' })}
            says="Go back to the order of upload"
          />
        )}
      </Failure>
    )
  }
  const showAll = () => updateQuery({ search: '', filter: '' }, true)
  return (
    <Empty icon="filter" title="No row matches" action={{ says: 'Show all rows', to: showAll }}>
      No row of {dataset.name} matches {of.search === '' ? 'this filter' : 'this search'}. Change it, or clear
      it.
    </Empty>
  )
}

/** The selected cell in full, and the actions on it. */
function CellBar(props: {
  readonly dataset: CountedDataset
  readonly query: Address['query']
  readonly column: Column
  readonly row: number
  readonly value: Field | undefined
  /** Undefined if the cell can't be changed. */
  readonly edit: (() => void) | undefined
}) {
  const { dataset, column, value } = props
  // Rows can be filtered only by columns of the dataset, not by calculated ones.
  const isStored = dataset.columns.some(({ name }) => name === column.name)
  const isComparable = value !== undefined && equals(column, value).length > 0
  const filterBy = (operator: 'eq' | 'ne') => () => addCondition(comparison(column, operator, value))
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
        <Button icon="copy" look="small" to={() => copyText(value ?? '', 'Cell')} says="Copy" />
        <Button icon="link" look="small" to={() => copyText(cellAddress(props), 'Link')} says="Link" />
        {props.edit && <Button icon="edit" look="small" to={props.edit} says="Change" />}
        {isStored && isComparable && (
          <>
            <Button look="small" to={filterBy('eq')} says="Only these" />
            <Button look="small" to={filterBy('ne')} says="Without these" />
          </>
        )}
      </div>
    </div>
  )
}

/** The address of a cell as it is now: another version may have another row at its place. */
function cellAddress({ dataset, query, column, row }: Parameters<typeof CellBar>[0]): string {
  const { path } = parseAddress(location.hash)
  const version = dataset.isSaved ? '' : String(dataset.version)
  return location.href.replace(
    /#.*/s,
    href(path, { ...query, version, row: String(row + 1), at: column.name }),
  )
}

/**
 * Asks for another value of a cell, and makes a version with it. The row is found by its key, or by all of its values;
 * rows that are equal in them change together.
 */
async function editCell(
  dataset: Dataset,
  view: View,
  row: number,
  column: Column,
  cell: Field,
): Promise<void> {
  const { id, key = [], columns } = dataset
  const { datasets } = api()
  const whole = await fetchRows(id, { ...viewQuery(view), select: undefined, skip: row, top: 1 })
  const filter = columns
    .flatMap((one, at) =>
      key.length === 0 || key.includes(one.name) ? equals(one, whole.rows[0]?.[at] ?? null) : [],
    )
    .join(' and ')
  if (filter === '')
    throw new Error('No value of this row can be compared, so it can not be told from others.')
  const { rowCount } = await fetchRows(id, { filter, top: 0 })
  ask({
    title: `Change ${column.name} in row ${formatCount(row + 1)}`,
    text: rowCount > 1 && `${plural(rowCount, 'row')} have the same values. All of them change.`,
    action: 'Change',
    fields: {
      value: { label: column.name, value: cell ?? '', plain: true, verbatim: true, lines: 3 },
      none: { label: 'No value', value: cell === null, when: () => column.nullable },
    },
    async onSubmit({ value, none }) {
      const values = { [column.name]: none ? null : newValue(value, column.type) }
      const { version, matchedRows } = await datasets.editRows(id, filter, values)
      if (matchedRows === 0)
        throw new Error('The row was changed or deleted in the meantime. Look at it again.')
      announce(`${plural(matchedRows, 'cell')} changed.`, () => takeBack(id, version))
    },
  })
}

/** A condition for a value; none for those that can't be compared, as binary ones. */
function equals(column: Column, value: Field): string[] {
  const condition = comparison(column, 'eq', value)
  return condition.endsWith("'") && column.type !== 'string' ? [] : [condition]
}

/** What is typed, as the service takes it: text of every type, of which one that begins with `=` would be calculated. */
function newValue(text: string, type: string): string {
  if (type !== 'string') return text.trim()
  return text.startsWith('=') ? `=${quoteLiteral(text)}` : text
}
