import type { Column, Dataset } from '../../../client/index.ts'
import { api } from '../api.ts'
import type { Field } from '../csv.ts'
import { familyOf, filterLiteral, filterName, stringLiteral } from '../filter/types.ts'
import { formatCount, plural } from '../format.ts'
import { fetchRows } from '../rows.ts'
import { ask } from '../ui/form.tsx'
import { announce } from '../ui/toast.tsx'
import { type View, viewQuery } from '../view/view.ts'

/**
 * Asks for another value of a cell, and makes a version with it. The row is found by its key, or by all of its values;
 * rows that are equal in them change together.
 */
export async function editCell(
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
      announce(`${plural(matchedRows, 'cell')} changed.`, () => datasets.restore(id, version - 1))
    },
  })
}

/** A condition for a value; none for those that can't be compared, as binary ones and NaN. */
function equals({ name, type }: Column, value: Field): string[] {
  if (value === null) return [`${filterName(name)} eq null`]
  const literal = filterLiteral(value, type)
  return type !== 'string' && literal.startsWith("'") ? [] : [`${filterName(name)} eq ${literal}`]
}

/** What is typed, as the service takes it. Numbers are sent as expressions, which keep all digits. */
function newValue(text: string, type: string): string | boolean {
  const literal = filterLiteral(text, type)
  switch (familyOf(type)) {
    case 'number':
      return literal.startsWith("'") ? text : `=${literal}`
    case 'boolean':
      return literal.startsWith("'") ? text : literal === 'true'
    case 'text':
      return text.startsWith('=') ? `=${stringLiteral(text)}` : text
    default:
      return text.trim()
  }
}
