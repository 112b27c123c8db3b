import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '../../server/config/read.ts'
import { platform } from '../server/platform.ts'

const text = readFileSync(new URL('../../server/deploy/kubernetes.yaml', import.meta.url), 'utf8')
const documents = parseAllDocuments(text).map((document) => document.toJS())
const of = (kind: string) => documents.find((document) => document.kind === kind)
const pod = of('Deployment').spec.template.spec
const [container] = pod.containers

/** What Kubernetes tells each pod of a service in its namespace: `PARQUETRY_PORT`, which is a setting, too. */
const name = of('Service').metadata.name.toUpperCase()
const links = pod.enableServiceLinks === false ? [] : [[`${name}_PORT`, 'tcp://10.96.0.7:80']]

/** The environment that a node gets. */
const environment = Object.fromEntries([
  ...links,
  ...Object.entries<string>(of('Secret').stringData),
  ...container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
])

it('gives the nodes settings that they take', () => {
  const settings = JSON.parse(of('ConfigMap').data['config.json'])
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-kubernetes-'))
  const file = join(folder, 'config.json')
  try {
    writeFileSync(file, of('ConfigMap').data['config.json'])
    const config = readConfig({}, { ...environment, PARQUETRY_CONFIG: file })
    expect(config).toMatchObject({ database: environment.PARQUETRY_DATABASE, store: 's3://parquetry/rows' })
    expect(config.timeouts.leaving).toBe(settings.timeouts.leaving)
  } finally {
    rmSync(folder, { recursive: true })
  }
  // Killed only after everything had its time.
  const { leaving, shutdown } = settings.timeouts
  expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(leaving + shutdown)
  const { periodSeconds, timeoutSeconds, failureThreshold } = container.readinessProbe
  expect(leaving).toBeGreaterThan(1000 * failureThreshold * (periodSeconds + timeoutSeconds))
})

it('asks for paths that answer without a key', async () => {
  await using at = await platform()
  for (const probe of ['readinessProbe', 'livenessProbe', 'startupProbe']) {
    const { path, port } = container[probe].httpGet
    expect((await at.call(undefined, 'GET', path)).statusCode, path).toBe(200)
    expect(container.ports.map((one: { name: string }) => one.name)).toContain(port)
  }
})

it('selects the pods that it makes', () => {
  const { labels } = of('Deployment').spec.template.metadata
  for (const kind of ['Deployment', 'PodDisruptionBudget']) {
    expect(labels).toMatchObject(of(kind).spec.selector.matchLabels)
  }
  expect(labels).toMatchObject(of('Service').spec.selector)
  const volumes = pod.volumes.map(({ name }: { name: string }) => name)
  expect(container.volumeMounts.map(({ name }: { name: string }) => name).toSorted()).toEqual(
    volumes.toSorted(),
  )
})
