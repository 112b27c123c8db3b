import { notUnderstood } from '../../failures.ts'
import { type Json, type JsonRecord, listOf, record, textOf } from '../text/text.ts'
import { assemble, type Block, type BlockObservation, TIME } from './assemble.ts'
import type { DataMessage, Expected } from './message.ts'

/**
 * Reads a JSON-stat 2.0 dataset: a cube in row-major order (the last dimension runs fastest), its `value` a list or,
 * where most cells are empty, an object by index.
 */
export function readJsonStat(message: JsonRecord, expected: Expected): DataMessage {
  const ids = listOf(message['id']).map(textOf)
  const size = listOf(message['size']).map(Number)
  const times = ['time', ...listOf(record(message['role'])['time']).map(textOf)]
  const dimensions = ids.map((id) => dimension(id, record(record(message['dimension'])[id]), times))
  if (ids.length === 0 || dimensions.some(({ codes }, i) => codes.length !== size[i])) {
    throw notUnderstood('JSON-stat whose dimensions and sizes disagree')
  }
  const strides = size.map((_, i) => size.slice(i + 1).reduce((product, n) => product * n, 1))
  const time = dimensions.findIndex(({ id }) => id === TIME)
  const statuses = byIndex(message['status'])
  const updated = textOf(message['updated'])
  const common = updated === '' ? [] : [['LAST_UPDATE', updated] as const]
  const blocks = new Map<string, Block & { readonly observations: BlockObservation[] }>()
  const values = byIndex(message['value'])
  for (const index of new Set([...values.keys(), ...statuses.keys()])) {
    const at = dimensions.map(({ id, codes }, i) => {
      return [id, codes[Math.floor(index / strides[i]!) % codes.length]!] as const
    })
    const key = at.filter((_, i) => i !== time)
    const name = key.map(([, code]) => code).join('.')
    const block = blocks.get(name) ?? { components: new Map([...key, ...common]), observations: [] }
    blocks.set(name, block)
    const flags = textOf(statuses.get(index))
    const status = flags === '' ? [] : [['OBS_FLAG', flags] as const]
    const components = new Map([...at.slice(time, time + 1), ...status])
    block.observations.push({ components, value: values.get(index) })
  }
  const labels = new Map(dimensions.filter(({ names }) => names.size > 0).map(({ id, names }) => [id, names]))
  const known = dimensions.map(({ id }) => id).filter((id) => id !== TIME)
  return assemble(
    [...blocks.values()],
    [],
    { name: textOf(message['label']) || undefined, labels },
    expected,
    known,
  )
}

/**
 * Values or statuses by the index of their cell. A sparse cube leaves cells out, also those of which only a status says
 * why they are empty.
 */
function byIndex(cells: Json | undefined): ReadonlyMap<number, Json> {
  const entries = Array.isArray(cells) ? cells.entries() : Object.entries(record(cells))
  return new Map([...entries].map(([index, cell]) => [Number(index), cell] as const))
}

/** A dimension with its codes in the order of their index. A category's `index` is a list of codes, or an object of positions; a single category may have only a label. */
function dimension(id: string, object: JsonRecord, times: readonly string[]) {
  const category = record(object['category'])
  const index = category['index']
  const label = record(category['label'])
  const codes = Array.isArray(index)
    ? index.map(textOf)
    : Object.entries(index === undefined ? label : record(index))
        .sort(([, a], [, b]) => (index === undefined ? 0 : Number(a) - Number(b)))
        .map(([code]) => code)
  const names = new Map(Object.entries(label).map(([code, name]) => [code, textOf(name)]))
  return { id: times.includes(id) ? TIME : id, codes, names }
}
