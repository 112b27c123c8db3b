import { useMemo, useState } from 'preact/hooks'
import type { Format } from '../../../client/index.ts'
import { api, type Shelves, shelves } from '../api.ts'
import { rowsIn } from '../csv.ts'
import { columnsIn } from '../dataset/exploration.ts'
import { chosenRepository, newDatasetFields } from '../dataset/storing.ts'
import { plural } from '../format.ts'
import { useRound } from '../hooks.ts'
import { Plot } from '../plot/plot-view.tsx'
import { type Draw, drawResult } from '../plot/sources.ts'
import { type Address, href, navigate, updateQuery } from '../router.ts'
import { type CellPosition, Grid } from '../table/grid.tsx'
import { type RowSource, useRows } from '../table/windows.ts'
import { Button } from '../ui/button.tsx'
import { saveBlob } from '../ui/copy.tsx'
import { Empty, Failure, Loading } from '../ui/feedback.tsx'
import { Select } from '../ui/field.tsx'
import { ask } from '../ui/form.tsx'
import { Page, Tabs } from '../ui/page.tsx'
import { useResource } from '../ui/resource.tsx'
import { announce, complain } from '../ui/toast.tsx'
import { Editor, rememberStatement, sqlName, tableName } from './editor.tsx'

const TABS = [
  { value: 'table', label: 'Table', icon: 'table' },
  { value: 'plot', label: 'Plot', icon: 'plot' },
] as const

const NOTHING: Shelves = { tables: [], homes: [], account: '' }

/** Runs a SELECT over the datasets that the key may read, and shows the result. The address holds the statement. */
export function SqlPage({ query }: { readonly query: Address['query'] }) {
  const sql = query['q'] ?? ''
  const { value: names = NOTHING } = useResource((signal) => shelves({ signal, columns: true }), [])
  const [stopped, setStopped] = useState('')
  const [round, again] = useRound()
  const resource = useResource(
    async (signal) => {
      if (sql === '' || stopped === sql) return undefined
      const columns = columnsIn(await api().explainSql(sql, { top: 0, signal }))
      rememberStatement(sql)
      const fetch: RowSource['fetch'] = async (page) => rowsIn(await api().sql(sql, 'csv', page))
      return { sql, columns, fetch }
    },
    [sql, stopped, round],
  )
  const run = (text: string) => {
    setStopped('')
    if (text === sql) again()
    else updateQuery({ q: text, x: '', y: '', by: '' }, true)
  }
  const { loading, error } = resource
  const result = loading || error !== undefined ? undefined : resource.value
  return (
    <Page
      full
      title="SQL"
      intro={
        <p class="hint">
          One SELECT over every dataset that you may read. Control and Enter runs it; nothing is changed.
        </p>
      }
    >
      <Editor
        {...{ sql, names, error }}
        running={loading && sql !== ''}
        onRun={run}
        onStop={() => setStopped(sql)}
      />
      {loading && sql !== '' && <Loading label="Running the statement" />}
      {names.tables.length > 0 && <Tables {...names} onRun={run} />}
      {sql === '' && <Start {...names} onRun={run} />}
      {result && <Result key={`${round} ${sql}`} source={result} {...{ query, ...names }} />}
    </Page>
  )
}

type Runs = Shelves & { readonly onRun: (sql: string) => void }

/** A statement that shows the first rows of a table. */
const firstRows = (name: string) => `SELECT * FROM ${name} LIMIT 100`

/** The tables as SQL names them, each with its columns. */
function Tables({ tables, homes, account, onRun }: Runs) {
  const named = tables.flatMap(({ id, repositoryId, name, columns }) => {
    const home = homes.find((home) => home.id === repositoryId)
    return home ? { id, name: tableName(home, name, account), columns: columns ?? [] } : []
  })
  return (
    <details class="tree tables">
      <summary>Tables and their columns</summary>
      {named.map(({ id, name, columns }) => (
        <details key={id}>
          <summary>
            <code>{name}</code>
          </summary>
          <ul>
            {columns.map((column) => (
              <li key={column.name}>
                <code>{sqlName(column.name)}</code> <span class="hint">{column.type}</span>
              </li>
            ))}
          </ul>
          <Button look="small" to={() => onRun(firstRows(name))} says="Show its first rows" />
        </details>
      ))}
    </details>
  )
}

function Start({ tables, homes, account, onRun }: Runs) {
  const table = tables.find(({ rowCount }) => rowCount !== 0)
  const home = homes.find(({ id }) => id === table?.repositoryId)
  const example = table && home && firstRows(tableName(home, table.name, account))
  return (
    <Empty
      icon="code"
      title="Nothing has been run yet"
      action={example ? { says: 'Run an example', to: () => onRun(example) } : undefined}
    >
      Tables are datasets: "repository"."dataset", with the owner in front for those of others. Join them,
      group them, and use window functions.
    </Empty>
  )
}

function Result(
  props: Shelves & {
    readonly source: RowSource & { readonly sql: string }
    readonly query: Address['query']
  },
) {
  const { source, query, tables, homes, account } = props
  const { sql, columns } = source
  const { windows, error } = useRows(source)
  const draw = useMemo((): Draw => (chosen, signal) => drawResult(chosen, source, signal), [source])
  const [active, setActive] = useState<CellPosition>()
  const tab = query['view'] === 'plot' ? 'plot' : 'table'
  const rowCount = windows?.rowCount
  return (
    <>
      <div class="section-head sql-result">
        <Tabs label="Views of the result" value={tab} tabs={TABS} onValue={(view) => updateQuery({ view })} />
        <p class="row-count" role="status">
          {rowCount !== undefined && `${plural(rowCount, 'row')}, ${plural(columns.length, 'column')}`}
        </p>
        <Keep sql={sql} names={{ tables, homes, account }} />
      </div>
      <section class="dataset-view" role="tabpanel" id={`panel-${tab}`} aria-label={tab}>
        {tab === 'plot' && rowCount !== undefined && (
          <Plot name="Result" isResult {...{ columns, rowCount, query, draw }} />
        )}
        {tab === 'table' &&
          (error !== undefined ? (
            <Failure error={error} onRetry={() => windows?.retry()} />
          ) : !windows ? (
            <Loading label="Loading rows" />
          ) : rowCount === 0 ? (
            <Empty icon="table" title="No rows">
              The statement has a result without rows.
            </Empty>
          ) : (
            <Grid
              label={`${plural(rowCount ?? 0, 'row')} of the result`}
              {...{ windows, active }}
              onActive={setActive}
              onSort={() => announce('Sort with ORDER BY in the statement.')}
            />
          ))}
      </section>
    </>
  )
}

const DOWNLOADS = {
  '': 'Download',
  csv: 'Download as csv',
  xlsx: 'Download as xlsx',
  parquet: 'Download as parquet',
  json: 'Download as json',
}

function Keep({ sql, names }: { readonly sql: string; readonly names: Shelves }) {
  const download = async (format: Format | '') => {
    if (format === '') return
    const answer = await api().sql(sql, format)
    saveBlob(new Blob([await answer.arrayBuffer()]), `query.${format}`)
  }
  return (
    <div class="actions">
      <Select
        label="Download"
        value=""
        options={DOWNLOADS}
        onValue={(format) => download(format).catch(complain)}
      />
      <Button to={() => save(sql, names)} says="Save as dataset" />
    </div>
  )
}

const STORED = {
  '': 'run the query at each read',
  'on-change': 'stored, and again when a table changes',
  hour: 'stored every hour',
  day: 'stored every day',
}

/** Whether a statement names a table, or the number of one, that is in a private repository. */
function readsPrivate(sql: string, { tables, homes }: Shelves): boolean {
  const hidden = new Set(homes.filter((one) => one.private).map(({ id }) => id))
  const text = sql.toLowerCase()
  return tables.some(
    ({ id, name, repositoryId }) =>
      hidden.has(repositoryId) && (text.includes(name.toLowerCase()) || text.includes(`dataset_${id}`)),
  )
}

function save(sql: string, names: Shelves): void {
  ask({
    title: 'Save the query as a dataset',
    action: 'Save',
    busyAction: 'Saving…',
    fields: {
      ...newDatasetFields('query', names, readsPrivate(sql, names)),
      stored: { label: 'Rows', value: '' as keyof typeof STORED, options: STORED },
    },
    async onSubmit({ name, home, stored }) {
      const { id } = await api().datasets.create({
        name,
        repositoryId: await chosenRepository(home),
        query: { sql },
        ...(stored && { materialize: stored }),
      })
      navigate(href(['datasets', id]))
    },
  })
}
