import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { EVENTS } from '../../engine/events.ts'
import { ERRORS } from '../../engine/index.ts'
import type { ClusterStats } from '../../engine/store/membership/membership.ts'
import type { CacheStats } from '../../engine/store/objects/part-store.ts'
import { SERVER_ERRORS } from '../../server/http/errors.ts'
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
/** The expressions of the alerts. */
const alerts = parse(
  readFileSync(new URL('../../server/deploy/kubernetes/monitoring/alerts.yaml', import.meta.url), 'utf8'),
).spec.groups[0].rules.map(({ alert, expr }: { alert: string; expr: string }) => ({
  title: alert,
  expr,
  legendFormat: '',
})) as { title: string; expr: string; legendFormat: string }[]
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
  // What only a cluster or an object store has is declared without samples.
  for (const [, name] of body.matchAll(/^# TYPE (\w+) gauge$/gm))
    if (!samples.has(name!)) samples.set(name!, new Set(['of']))
  return samples
}

it('the dashboard and the alerts ask for metrics and labels that the service has', async () => {
  const samples = await exposed()
  expect(targets.length).toBeGreaterThan(10)
  // Prometheus itself adds where a sample comes from.
  const added = new Set(['instance', 'job', 'le'])
  for (const { title, expr, legendFormat } of [...targets, ...alerts]) {
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

/** Figures that a platform without a cluster and an object store does not give. */
const FIGURES: Readonly<Record<string, readonly string[]>> = {
  parquetry_cluster: ['heartbeatAge', 'waiting', 'nodes', 'overdueJobs'] satisfies (keyof ClusterStats)[],
  parquetry_parts_cache: [
    'hits',
    'misses',
    'fetchedBytes',
    'bytes',
    'maxBytes',
    'blockHits',
    'blockMisses',
    'requests',
    'failedRequests',
    'requestSeconds',
  ] satisfies (keyof CacheStats)[],
}

it('the dashboard and the alerts name figures of clusters and stores that there are', () => {
  for (const { title, expr } of [...targets, ...alerts])
    for (const [, name, of] of expr.matchAll(/(parquetry_cluster|parquetry_parts_cache)\{.*?\bof=~?"(.+?)"/g))
      for (const figure of of!.split('|')) expect(FIGURES[name!], title).toContain(figure)
})

it('figures of one metric are compared without regard to the label by which they differ', () => {
  for (const { title, expr } of [...targets, ...alerts]) {
    const figures = new Set(Array.from(expr.matchAll(/\bof="(\w+)"/g), ([, figure]) => figure))
    if (figures.size > 1) expect(expr, title).toContain(' ignoring(of) ')
  }
})

it('the alerts name codes and events that there are', () => {
  expect(alerts.length).toBeGreaterThan(10)
  const codes = new Set([...Object.keys(ERRORS), ...Object.keys(SERVER_ERRORS)])
  for (const { title, expr } of alerts) {
    for (const [, code] of expr.matchAll(/code="(\w+)"/g)) expect(codes, title).toContain(code)
    for (const [, event] of expr.matchAll(/events\{of="(\w+)"/g))
      expect(Object.keys(EVENTS), title).toContain(event)
  }
})

it("every figure of the service's own is on the dashboard", async () => {
  const shown = targets.map(({ expr }) => expr).join('\n')
  const own = [...(await exposed()).keys()].filter((name) => !/_(process|nodejs)_/.test(name))
  const missing = own.filter((name) => !shown.includes(name.replace(/_(sum|count)$/, '_bucket')))
  expect(missing).toEqual([])
})
