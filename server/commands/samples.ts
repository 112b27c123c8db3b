import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Engine } from '../../engine/index.ts'

const SAMPLES = {
  'us-employment': 'Monthly employment in the United States, in thousands (Bureau of Labor Statistics)',
  'seattle-weather': 'Daily weather in Seattle, 2012 to 2015 (NOAA)',
  penguins: 'Measurements of penguins near Palmer Station, Antarctica (CC0)',
} as const

const REPOSITORY = 'samples'

/**
 * Loads the sample data into a data directory that never had a repository. Gives the ids of two of the datasets where
 * the samples are there.
 */
export async function loadSamples(
  engine: Engine,
  share: (repositoryId: number) => void,
): Promise<{ weather: number; penguins: number } | undefined> {
  if (neverHeldAnything(engine) && existsSync(fileOf('penguins'))) {
    const { id: repositoryId } = engine.createRepository({
      name: REPOSITORY,
      description: 'Small tables to try things on',
    })
    share(repositoryId)
    for (const [name, description] of Object.entries(SAMPLES)) {
      const { id } = engine.createDataset({ repositoryId, name, description })
      await engine.dataset(id).replace({ body: { file: fileOf(name) }, format: 'csv' })
    }
  }
  const datasets = engine.datasets()
  const weather = datasets.find((one) => one.name === 'seattle-weather')?.id
  const penguins = datasets.find((one) => one.name === 'penguins')?.id
  return weather === undefined || penguins === undefined ? undefined : { weather, penguins }
}

/** Ids are never reused, so SQLite remembers whether there ever was a repository. */
function neverHeldAnything(engine: Engine): boolean {
  return !engine.database.get("SELECT 1 FROM sqlite_sequence WHERE name = 'repositories'")
}

/** The samples lie beside the sources in a checkout and in the package alike. */
function fileOf(name: string): string {
  const here = import.meta.url.endsWith('.ts') ? '../../data/samples/' : '../../../data/samples/'
  return fileURLToPath(new URL(`${here}${name}.csv`, import.meta.url))
}
