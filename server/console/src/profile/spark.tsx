import type { ColumnStats } from './stats.ts'

/** A tiny chart of a column: its histogram, or the shares of its most frequent values. Decorative. */
export function Spark(props: { readonly stats: ColumnStats | undefined }) {
  const shape = props.stats?.shape
  if (!shape || shape.kind === 'none') return <span class="spark" aria-hidden="true" />
  if (shape.kind === 'values') {
    const total = shape.values.reduce((sum, value) => sum + value.count, shape.others)
    return (
      <span class="spark spark-shares" aria-hidden="true">
        {shape.values.map(({ value, count }) => (
          <i key={value} style={{ flexGrow: count / total }} />
        ))}
        {shape.others > 0 && <i class="spark-others" style={{ flexGrow: shape.others / total }} />}
      </span>
    )
  }
  const highest = Math.max(...shape.bins.map((bin) => bin.count), 1)
  return (
    <span class="spark spark-bins" aria-hidden="true">
      {shape.bins.map((bin) => (
        <i
          key={bin.from}
          style={{ blockSize: `${bin.count === 0 ? 0 : Math.max(6, (bin.count / highest) * 100)}%` }}
        />
      ))}
    </span>
  )
}
