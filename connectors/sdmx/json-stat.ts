import { assemble, type Block, TIME } from './assemble.ts'
import type { DataMessage, Expected } from './data.ts'
import { notUnderstood } from './failures.ts'
import { asList, asObject, asText, type JsonObject } from './json.ts'

interface Dimension {
  readonly id: string
  /** Codes in the order of their index. */
  readonly codes: readonly string[]
  readonly names: ReadonlyMap<string, string>
}

/**
 * Reads a JSON-stat 2.0 dataset: a cube in row-major order (the last dimension runs fastest), its `value` a list or,
 * where most cells are empty, an object by index.
 */
export function readJsonStat(message: JsonObject, expected: Expected): DataMessage {
  const ids = asList(message['id']).map(asText)
  const size = asList(message['size']).map(Number)
  const dimensions = ids.map((id) => dimension(id, asObject(asObject(message['dimension'])[id]), timeIds(message)))
  if (ids.length === 0 || dimensions.some(({ codes }, i) => codes.length !== size[i])) {
    throw notUnderstood('JSON-stat whose dimensions and sizes disagree')
  }
  const strides = size.map((_, i) => size.slice(i + 1).reduce((product, n) => product * n, 1))
  const time = dimensions.findIndex(({ id }) => id === TIME)
  const common: [string, string][] = asText(message['updated']) === '' ? [] : [['LAST_UPDATE', asText(message['updated'])]]
  const blocks = new Map<string, Block & { observations: { components: Map<string, string>; value: unknown }[] }>()
  for (const [index, value] of Object.entries(asObject(message['value']) as object).concat(listed(message['value']))) {
    const at = dimensions.map(({ id, codes }, i) => [id, codes[Math.floor(Number(index) / strides[i]!) % size[i]!]!] as const)
    const key = at.filter((_, i) => i !== time)
    const name = key.map(([, code]) => code).join('.')
    let block = blocks.get(name)
    if (!block) {
      block = { components: new Map([...key, ...common]), observations: [] }
      blocks.set(name, block)
    }
    block.observations.push({ components: new Map(at.slice(time, time + 1)), value })
  }
  const labels = new Map(dimensions.map(({ id, names }) => [id, names]))
  const known = dimensions.map(({ id }) => id).filter((id) => id !== TIME)
  return assemble([...blocks.values()], [], labels, expected, known)
}

function listed(value: unknown): readonly [string, unknown][] {
  return asList(value).map((one, index) => [String(index), one])
}

function timeIds(message: JsonObject): readonly string[] {
  return ['time', ...asList(asObject(message['role'])['time']).map(asText)]
}

/** A category's `index` is a list of codes, or an object of positions; a single category may have only a label. */
function dimension(id: string, object: JsonObject, times: readonly string[]): Dimension {
  const category = asObject(object['category'])
  const index = category['index']
  const label = asObject(category['label'])
  const codes = Array.isArray(index)
    ? index.map(asText)
    : Object.entries(index === undefined ? label : asObject(index))
        .sort(([, a], [, b]) => (index === undefined ? 0 : Number(a) - Number(b)))
        .map(([code]) => code)
  const names = new Map(Object.entries(label).map(([code, name]) => [code, asText(name)]))
  return { id: times.includes(id) ? TIME : id, codes, names }
}
