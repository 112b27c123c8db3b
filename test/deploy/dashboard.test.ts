import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { dataset, platform } from '../server/platform.ts'

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
}

const dashboard: Dashboard = JSON.parse(
  readFileSync(new URL('../../server/deploy/grafana.json', import.meta.url), 'utf8'),
)
const targets = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map((target) => ({ title, ...target })),
)

/** Names and labels of the samples that the service really gives, after one of each kind of request. */
async function exposed(): Promise<Map<string, Set<string>>> {
  await using at = await platform()
  const { id } = await dataset(at, at.root)
  const url = await at.listen()
  const authorization = `Basic ${Buffer.from(`${at.root}:`).toString('base64')}`
  await (await fetch(`${url}/datasets/${id}/data`, { headers: { authorization } })).text()
  await at.call(undefined, 'GET', '/repositories')
  const { body } = await at.call(at.root, 'GET', '/metrics')
  const samples = new Map<string, Set<string>>()
  for (const line of body.split('\n')) {
    const match = /^(\w+)(?:\{(.*)\})? /.exec(line)
    if (!match) continue
    const labels = [...(match[2] ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label!)
    samples.set(match[1]!, new Set([...(samples.get(match[1]!) ?? []), ...labels]))
  }
  return samples
}

it('the dashboard asks for metrics and labels that the service has', async () => {
  const samples = await exposed()
  expect(targets.length).toBeGreaterThan(10)
  // Prometheus itself adds where a sample comes from.
  const added = new Set(['instance', 'job', 'le'])
  for (const { title, expr, legendFormat } of targets) {
    const names = expr.match(/parquetry_\w+/g) ?? []
    expect(names.length, title).toBeGreaterThan(0)
    const labels = [
      ...[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!),
      ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(', ')),
      ...[...expr.matchAll(/(\w+)=~?"/g)].map(([, label]) => label!),
    ]
    for (const name of names) {
      expect([...samples.keys()], title).toContain(name)
      for (const label of labels) {
        expect(added.has(label) || samples.get(name)!.has(label), `${title}: ${name} has no ${label}`).toBe(
          true,
        )
      }
    }
  }
})

it("every figure of the service's own is on the dashboard", async () => {
  const shown = targets.map(({ expr }) => expr).join('\n')
  const own = [...(await exposed()).keys()].filter((name) => !/_(process|nodejs)_/.test(name))
  const missing = own.filter((name) => !shown.includes(name.replace(/_(sum|count)$/, '_bucket')))
  expect(missing).toEqual([])
})
