import type { DatasetSummary, Repository } from '../../../client/index.ts'
import { formatAge, formatBytes, formatCount, plural } from '../format.ts'
import { href } from '../router.ts'

const NAMED_COLUMNS = 6

/** A list of datasets with name, columns, size and age. */
export function DatasetList(props: {
  readonly datasets: readonly DatasetSummary[]
  /** The repositories, if the list contains datasets of several of them. */
  readonly homes?: readonly Repository[]
}) {
  const homeOf = ({ repositoryId }: DatasetSummary) => {
    const home = props.homes?.find(({ id }) => id === repositoryId)
    return home && `${home.name} · `
  }
  return (
    <ul class="dataset-list">
      {props.datasets.map((dataset) => (
        <li key={dataset.id}>
          <a class="dataset-item" href={href(['datasets', dataset.id])}>
            <span class="dataset-words">
              <span class="dataset-name">{dataset.name}</span>
              <span class="dataset-note">
                {homeOf(dataset)}
                {dataset.description || columnsText(dataset)}
              </span>
            </span>
            <span class="dataset-figure figures">
              {dataset.rowCount !== null && formatCount(dataset.rowCount)}{' '}
              <small>{dataset.rowCount === null ? 'query' : dataset.rowCount === 1 ? 'row' : 'rows'}</small>
            </span>
            <span class="dataset-figure figures is-minor">{formatBytes(dataset.bytes)}</span>
            <span class="dataset-figure is-minor">{formatAge(dataset.updatedAt)}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function columnsText({ columnCount, columns }: DatasetSummary): string {
  if (columnCount === 0) return 'no columns yet'
  if (!columns) return plural(columnCount, 'column')
  const names = columns.slice(0, NAMED_COLUMNS).map(({ name }) => name)
  const more = columnCount - names.length
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '')
}
