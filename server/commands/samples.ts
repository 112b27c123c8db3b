import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Engine } from '../../engine/index.ts'
import { PACKAGE } from '../version.ts'

const SAMPLES = {
  'us-employment': 'Monthly employment in the United States, in thousands (Bureau of Labor Statistics)',
  'seattle-weather': 'Daily weather in Seattle, 2012 to 2015 (NOAA)',
  penguins: 'Measurements of penguins near Palmer Station, Antarctica (CC0)',
} as const

const REPOSITORY = 'samples'

/**
 * Loads the sample data into a data directory that never had a repository. Returns the ids of two sample datasets, if
 * they exist.
 */
export async function loadSamples(
  engine: Engine,
  share: (repositoryId: number) => Promise<void>,
): Promise<{ weather: number; penguins: number } | undefined> {
  const repositoryId = existsSync(fileOf('penguins')) ? await makeRepository(engine) : undefined
  if (repositoryId !== undefined) {
    await share(repositoryId)
    for (const [name, description] of Object.entries(SAMPLES)) {
      const { id } = await engine.createDataset({ repositoryId, name, description })
      const dataset = await engine.dataset(id)
      await dataset.replace({ body: { file: fileOf(name) }, format: 'csv' })
    }
  }
  const datasets = await engine.datasets()
  const weather = datasets.find((one) => one.name === 'seattle-weather')?.id
  const penguins = datasets.find((one) => one.name === 'penguins')?.id
  return weather === undefined || penguins === undefined ? undefined : { weather, penguins }
}

/** Makes the repository, unless there was one before; of several nodes that start at once, one makes it. */
async function makeRepository(engine: Engine): Promise<number | undefined> {
  if (!(await neverHeldAnything(engine))) return undefined
  return engine.transaction(async (t) => {
    await t.lockName('samples')
    if (!(await neverHeldAnything(engine))) return undefined
    const fields = { name: REPOSITORY, description: 'Small tables to try things on' }
    return (await engine.createRepository(fields, t)).id
  })
}

/** Ids are never reused, so the newest one shows whether there ever was a repository. */
async function neverHeldAnything(engine: Engine): Promise<boolean> {
  return (await engine.database.newestId('repositories')) === 0
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`data/samples/${name}.csv`, PACKAGE))
}
