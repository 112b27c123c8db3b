import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Column } from '../../../client/index.ts'
import { Button } from './button.tsx'

/**
 * The state of a form that reads a text and writes it again. Its own changes come back as `text`; only changes made
 * elsewhere replace what the user is editing. Undefined if the form can't express the text.
 */
export function useWritten<T>(
  text: string,
  columns: readonly Column[],
  read: (text: string, columns: readonly Column[]) => T | undefined,
  write: (value: T, columns: readonly Column[]) => string,
) {
  const [value, setValue] = useState(() => read(text, columns))
  useEffect(() => {
    setValue((before) => (before && write(before, columns) === text ? before : read(text, columns)))
  }, [text, columns])
  return [value, setValue] as const
}

/** A line of such a form, which can be removed. */
export function BuilderLine(props: {
  readonly lead: ComponentChildren
  readonly remove: string
  readonly onRemove: () => void
  readonly children: ComponentChildren
}) {
  const { lead } = props
  return (
    <div class="builder-line">
      {typeof lead === 'string' ? <span class="builder-lead">{lead}</span> : lead}
      <Button look="quiet" icon="close" label={props.remove} to={props.onRemove} />
      {props.children}
    </div>
  )
}
