import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig } from '../../server/config/read.ts'
import { platform } from '../server/platform.ts'

const folder = fileURLToPath(new URL('../../server/deploy/kubernetes/', import.meta.url))
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const base = parse(read('kustomization.yaml'))
const documents = [
  ...base.resources,
  ...parse(read('monitoring/kustomization.yaml')).resources.map((name: string) => `monitoring/${name}`),
].flatMap((name: string) => parseAllDocuments(read(name)).map((document) => document.toJS()))
const of = (kind: string) => documents.find((document) => document.kind === kind)
const pod = of('Deployment').spec.template.spec
const [container] = pod.containers

/** What Kubernetes tells each pod of a service in its namespace: `PARQUETRY_PORT`, which is a setting, too. */
const name = of('Service').metadata.name.toUpperCase()
const links = pod.enableServiceLinks === false ? [] : [[`${name}_PORT`, 'tcp://10.96.0.7:80']]

/** The environment that a node gets. */
const environment = Object.fromEntries([
  ...links,
  ...Object.entries(parseEnv(read('secret.env'))),
  ...container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
])

it('gives the nodes settings that they take', () => {
  const settings = JSON.parse(read('config.json'))
  const config = readConfig({}, { ...environment, PARQUETRY_CONFIG: join(folder, 'config.json') })
  expect(config).toMatchObject({ database: environment.PARQUETRY_DATABASE, store: 's3://parquetry/rows' })
  expect(config.timeouts.leaving).toBe(settings.timeouts.leaving)
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
  expect(labels).toMatchObject(of('NetworkPolicy').spec.podSelector.matchLabels)
  expect(of('Service').metadata.labels).toMatchObject(of('ServiceMonitor').spec.selector.matchLabels)
  expect(of('HorizontalPodAutoscaler').spec.scaleTargetRef.name).toBe(of('Deployment').metadata.name)
  const volumes = pod.volumes.map(({ name }: { name: string }) => name)
  expect(container.volumeMounts.map(({ name }: { name: string }) => name).toSorted()).toEqual(
    volumes.toSorted(),
  )
})

it('can be reached by the names of ports and services', () => {
  const [port] = of('Service').spec.ports
  expect(port.targetPort).toBe(container.ports[0].name)
  const [{ http }] = of('Ingress').spec.rules
  expect(http.paths[0].backend.service).toEqual({
    name: of('Service').metadata.name,
    port: { name: port.name },
  })
  expect(of('ServiceMonitor').spec.endpoints[0].port).toBe(port.name)
})

it('is what kubectl makes of the base, with the secret and the settings', (context) => {
  const { status, stdout, error } = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
  if (error) return context.skip('no kubectl')
  expect(status).toBe(0)
  const made = parseAllDocuments(stdout).map((document) => document.toJS())
  const pod = made.find(({ kind }) => kind === 'Deployment').spec.template.spec
  const secret = made.find(({ kind }) => kind === 'Secret').metadata.name
  expect(pod.containers[0].envFrom).toEqual([{ secretRef: { name: secret } }])
  expect(pod.containers[0].image).toBe(`${base.images[0].newName}:${base.images[0].newTag}`)
  const config = made.find(({ kind }) => kind === 'ConfigMap').metadata.name
  expect(pod.volumes).toContainEqual({ name: 'config', configMap: { name: config } })
})

it("fits Kubernetes' own schemas, without unknown fields", (context) => {
  const files = base.resources.map((name: string) => join(folder, name))
  const check = ['-m', 'kubernetes_validate', '--strict', ...files]
  const { status, stderr, error } = spawnSync('python3', check, { encoding: 'utf8' })
  if (error || /No module named/.test(stderr)) {
    return context.skip('no kubernetes-validate: pip install kubernetes-validate brings it')
  }
  expect(stderr).not.toMatch(/schema|WARN|ERROR/)
  expect(status).toBe(0)
})
