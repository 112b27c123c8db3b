import type { ComponentChildren } from 'preact'
import { Icon } from '../ui/icons.tsx'

/** The line above the filter: tabs, number of rows, and buttons that open the filter and group forms. */
export function Toolbar(props: {
  readonly tabs: ComponentChildren
  readonly count: string
  readonly building: boolean
  readonly onBuilding: () => void
  readonly grouping: boolean
  readonly onGrouping: () => void
  /** The number of hidden columns. */
  readonly hidden: number
  readonly onColumns: (() => void) | undefined
}) {
  return (
    <div class="toolbar">
      {props.tabs}
      <p class="toolbar-count figures" role="status" data-testid="row-count">
        {props.count}
      </p>
      {props.onColumns && (
        <button type="button" class="button button-quiet" onClick={props.onColumns}>
          <Icon name="columns" />
          <span>{props.hidden === 0 ? 'Choose columns' : `Choose columns (${props.hidden} hidden)`}</span>
        </button>
      )}
      <button
        type="button"
        class="button button-quiet"
        aria-expanded={props.building}
        onClick={props.onBuilding}
      >
        <Icon name="plus" />
        <span>Build a filter</span>
      </button>
      <button
        type="button"
        class="button button-quiet"
        aria-expanded={props.grouping}
        onClick={props.onGrouping}
      >
        <Icon name="sum" />
        <span>Group and sum</span>
      </button>
    </div>
  )
}
