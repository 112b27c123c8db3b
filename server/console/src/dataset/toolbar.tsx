import type { ComponentChildren } from 'preact'
import { Icon } from '../ui/icons.tsx'

/** The line above the filter: which view, how many rows, and the way to build a filter by clicks. */
export function Toolbar(props: {
  readonly tabs: ComponentChildren
  readonly count: string
  readonly building: boolean
  readonly onBuilding: () => void
}) {
  return (
    <div class="toolbar">
      {props.tabs}
      <p class="toolbar-count figures" role="status" data-testid="row-count">
        {props.count}
      </p>
      <button
        type="button"
        class="button button-quiet"
        aria-expanded={props.building}
        onClick={props.onBuilding}
      >
        <Icon name="plus" />
        <span>Build a filter</span>
      </button>
    </div>
  )
}
