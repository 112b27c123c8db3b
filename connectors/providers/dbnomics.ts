import type {
  Category,
  Connector,
  ConnectorContext,
  Page,
  Row,
  SeriesDimension,
  SeriesInfo,
  SeriesPage,
  UpstreamAnswer,
} from '../connector.ts'
import { category, providerInfo } from '../connector.ts'
import { absent, malformed, notUnderstood } from '../failures.ts'
import { statusOfCode, statusOfFlags } from '../observations.ts'
import { allPages } from '../paging.ts'
import { frequencyName, parsePeriod } from '../periods.ts'
import type { Json, JsonRecord } from '../read.ts'
import { firstText, list, number, openBody, record, records, text } from '../read.ts'

/** The dimension that most datasets have for the unit. */
const UNIT = /^unit(_?measure)?$/i

/** The most datasets that a page may have. */
const DATASETS = 500

/**
 * The prefix of a path part that gives the position of a node in a category tree: nodes without a code have no other
 * name.
 */
const NODE = '~'

/**
 * https://api.db.nomics.world. Paths: `IMF` for a provider, `IMF/~0.2` for the third node under the first of its
 * category tree, `IMF/WEO:2024-10` for a dataset.
 */
export const dbnomics: Connector = {
  info: providerInfo({
    slug: 'dbnomics',
    name: 'DBnomics',
    description:
      'Series of some hundred statistical offices, central banks and international organisations, mirrored.',
    homepage: 'https://db.nomics.world',
    baseUrl: 'https://api.db.nomics.world/v22',
  }),
  freshSeconds: 3600,

  at(path, context) {
    if (path === '') return { categories: () => providers(context) }
    const [, provider, node, dataset] = /^([^/]+)(?:\/(?:~(\d+(?:\.\d+)*)|([^~/][^/]*)))?$/.exec(path) ?? []
    if (provider === undefined) throw absent()
    if (dataset !== undefined) return { series: (page) => seriesPage(provider, dataset, page, context) }
    return { categories: () => nodesBelow(provider, node, context) }
  },

  async search(question, { limit, offset }, context) {
    const found = await context.send({
      path: ['search'],
      query: { q: question, limit: Math.max(1, limit), offset },
    })
    const body = bodyOf(found)
    const categories = docsOf(body, 'results').flatMap((doc) => {
      const [provider, code] = [text(doc['provider_code']), text(doc['code'])]
      if (provider === null || code === null) return []
      const name = text(doc['name']) ?? code
      return [category(`${provider}/${code}`, name, text(doc['provider_name']) ?? '')]
    })
    // The provider's search only finds datasets, so the series of the best match are searched as well.
    const [provider, dataset] = categories[0]?.path.split('/') ?? []
    if (provider === undefined || dataset === undefined) return { total: 0, series: [], categories }
    const { series } = await seriesPage(provider, dataset, { limit, offset: 0 }, context, question)
    return { total: null, series, categories }
  },

  async series(id, _range, context) {
    const [, provider, dataset, code] = /^([^/]+)\/([^/]+)\/(.+)$/.exec(id) ?? []
    // A code with a comma would be read as two ids.
    if (provider === undefined || dataset === undefined || code === undefined || id.includes(',')) {
      throw malformed('provider, dataset and series, as BIS/cbpol/M.AU')
    }
    const answer = await context.send({ path: ['series'], query: { series_ids: id, observations: 1 } })
    const body = bodyOf(answer)
    const docs = docsOf(body, 'series')
    const doc = docs.find((each) => [null, code].includes(text(each['series_code'])))
    if (doc === undefined) {
      const others = docs.map((each) => text(each['series_code'])).join(', ')
      throw others === '' ? absent() : absent(`The answer has the series ${others}.`)
    }
    const { name, frequency, unit } = asSeries(`${provider}/${dataset}`, doc)
    const about = record(body['datasets'])[`${provider}/${dataset}`] ?? body['dataset']
    const dimensions = dimensionsOf(doc, about)
    return {
      name,
      frequency,
      unit: dimensions?.find(({ id }) => UNIT.test(id))?.label ?? unit,
      lastUpdated: firstText(doc, 'indexed_at', 'updated_at'),
      source: text(doc['provider_code']),
      notes:
        list(doc['notes'])
          .flatMap((note) => text(note) ?? [])
          .join(' ') || null,
      dimensions,
      rows: rowsOf(doc),
    }
  },
}

function providers({ cached }: ConnectorContext): Promise<readonly Category[]> {
  return cached({ path: ['providers'] }, (answer) => docsOf(bodyOf(answer), 'providers').map(asProvider))
}

/** What is below a node of the category tree, or below its root; all datasets, if the provider has no tree. */
async function nodesBelow(
  provider: string,
  node: string | undefined,
  context: ConnectorContext,
): Promise<readonly Category[]> {
  const tree = await context.cached({ path: ['providers', provider] }, (answer) => {
    const body = bodyOf(answer)
    return body['category_tree'] ?? record(body['provider'])['category_tree'] ?? null
  })
  if (list(tree).length === 0 && node === undefined) return datasets(provider, context)
  const steps = node?.split('.').map(Number) ?? []
  let nodes = records(tree)
  for (const step of steps) {
    const found = nodes[step]
    if (found === undefined) throw absent()
    nodes = records(found['children'])
  }
  return nodes.map((each, index) => asCategory(provider, [...steps, index], each))
}

async function seriesPage(
  provider: string,
  dataset: string,
  { limit, offset }: Page,
  { send }: ConnectorContext,
  q?: string,
): Promise<SeriesPage> {
  const query = { q, limit: Math.max(1, limit), offset, observations: 0 }
  const body = bodyOf(await send({ path: ['series', provider, dataset], query }))
  const series = docsOf(body, 'series').slice(0, limit)
  return {
    total: number(record(body['series'])['num_found']),
    series: series.map((doc) => asSeries(`${provider}/${dataset}`, doc)),
  }
}

async function datasets(provider: string, { cached }: ConnectorContext): Promise<readonly Category[]> {
  const rows = await allPages(DATASETS, (offset) =>
    cached({ path: ['datasets', provider], query: { limit: DATASETS, offset } }, (answer) => {
      const body = bodyOf(answer)
      return { total: number(record(body['datasets'])['num_found']), rows: docsOf(body, 'datasets') }
    }),
  )
  return rows.map((row) => {
    const code = text(row['code']) ?? ''
    return category(`${provider}/${code}`, text(row['name']) ?? code, text(row['description']) ?? '')
  })
}

function bodyOf(answer: UpstreamAnswer): JsonRecord {
  return openBody(answer, (body, status) => {
    // A malformed code is answered with 400 and the reason in words.
    const isUnknown = /not found|unknown|does not exist|no such/i
    if (status >= 400 && isUnknown.test(JSON.stringify(body))) throw absent()
    return record(body)
  })
}

/** `{providers: {docs: […]}}`, and the same for datasets and series; a plain list is understood too. */
function docsOf(body: JsonRecord, name: string): readonly JsonRecord[] {
  const found: Json | undefined = body[name]
  if (found === undefined || found === null) throw notUnderstood(`${name} is missing`)
  return Array.isArray(found) ? records(found) : records(record(found)['docs'])
}

function asProvider(doc: JsonRecord): Category {
  const code = text(doc['code']) ?? ''
  return category(code, text(doc['name']) ?? code, firstText(doc, 'website', 'region') ?? '', false)
}

/** A node with children is a folder, whether or not it has a code; a node without children is a dataset. */
function asCategory(provider: string, steps: readonly number[], node: JsonRecord): Category {
  const code = text(node['code'])
  const isDataset = code !== null && list(node['children']).length === 0
  const path = isDataset ? `${provider}/${code}` : `${provider}/${NODE}${steps.join('.')}`
  return category(path, firstText(node, 'name', 'code') ?? path, '', isDataset)
}

function asSeries(dataset: string, doc: JsonRecord): SeriesInfo {
  const code = text(doc['series_code']) ?? ''
  const days = list(doc['period_start_day'])
  const dimensions = record(doc['dimensions'])
  return {
    series_id: `${dataset}/${code}`,
    name: text(doc['series_name']) ?? code,
    frequency: frequencyName(text(doc['@frequency'])),
    unit: text(Object.entries(dimensions).find(([name]) => UNIT.test(name))?.[1]),
    start: text(days[0]),
    end: text(days.at(-1)),
  }
}

/** The codes of a series, with the labels that the answer gives for its dataset beside the series. */
function dimensionsOf(doc: JsonRecord, dataset: Json | undefined): readonly SeriesDimension[] | null {
  const codes = Object.entries(record(doc['dimensions']))
  const names = record(record(dataset)['dimensions_labels'])
  const labels = record(record(dataset)['dimensions_values_labels'])
  if (codes.length === 0) return null
  return codes.map(([id, code]) => ({
    id,
    name: text(names[id]),
    code: text(code) ?? '',
    label: labelOf(labels[id], text(code) ?? ''),
  }))
}

/** `{code: label}`, or `[[code, label]]` in older answers. */
function labelOf(labels: Json | undefined, code: string): string | null {
  if (!Array.isArray(labels)) return text(record(labels)[code])
  const pair = labels.map(list).find(([each]) => text(each) === code)
  return text(pair?.[1])
}

/** The status of each value. A row of `observations_attributes` is the id of an attribute, followed by its values. */
function statusesOf(doc: JsonRecord): readonly Json[] {
  const rows = list(doc['observations_attributes']).map(list)
  const found = rows.find(([id]) => /^(OBS_STATUS|OBS_FLAG|FLAGS?)$/i.test(text(id) ?? ''))
  return list(found?.[1])
}

/**
 * Rows from parallel lists; a missing value is `"NA"`. If the notation of a period is unknown, its start day is the
 * date.
 */
function rowsOf(doc: JsonRecord): readonly Row[] {
  const periods = list(doc['period'])
  const days = list(doc['period_start_day'])
  const values = list(doc['value'])
  const statuses = statusesOf(doc)
  if (periods.length !== values.length) throw notUnderstood('as many periods as values were expected')
  return periods.map((period, index) => {
    const isKnown = parsePeriod(text(period) ?? '') !== undefined
    const status = text(statuses[index]) ?? ''
    const words = /^[A-Z]$/.test(status) ? statusOfCode(status) : statusOfFlags(status)
    return { time: isKnown ? period : days[index], value: values[index], status: words }
  })
}
