import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SeriesInfo } from '../../connectors/index.ts'
import { SearchIndex } from '../../connectors/search-index.ts'
import { type BenchOptions, type Case, median } from '../case.ts'
import { startService } from '../service/service.ts'

/** The most milliseconds that a search over all series may take. */
const SLOWEST_MS = 50
const PROVIDERS = 10
const WARM_RUNS = 60

/** The words of the names. A series takes one of each, so that those of the short lists are in very many names. */
const WORDS = [
  ['Rate', 'Index', 'Total', 'Change'],
  ['monthly', 'annual', 'quarterly'],
  ['unemployment', 'employment', 'production', 'exports', 'imports', 'prices', 'lending', 'deposits'],
  numbered('industry', 400),
  numbered('region', 3_000),
] as const

const QUESTIONS = {
  'a word of a quarter of the names': 'rate',
  'a word of three names in a thousand': 'industry17',
  'a word of one name': 'only4711',
  'an id': 'S-77-000042',
  'two words, each very frequent': 'rate unemployment',
  'two frequent words that are never together': 'rate index',
  'three words': 'annual exports region77',
  'a rare word after a frequent one': 'rate only4711',
  'words that are not there': 'no such words',
  'the beginning of a frequent word': 'unem',
  'the beginning of very many words': 'in',
  'the beginning of very many words after a frequent one': 'rate re',
  'one letter': 'u',
  'ten words': 'rate annual exports rate annual exports rate annual exports industry17',
}

/** The time of `GET /search` over HTTP, over an index of half a million series. */
export async function* measure({ quick }: BenchOptions): AsyncGenerator<Case> {
  const count = quick ? 50_000 : 500_000
  const folder = mkdtempSync(join(tmpdir(), 'parquetry-bench-'))
  try {
    mkdirSync(join(folder, 'data'))
    await fill(join(folder, 'data', 'search.db'), count)
    await using service = await startService(join(folder, 'data'))
    const ask = async (name: string, path: string): Promise<Case> => {
      await service.ask(path)
      const runs = quick ? 10 : 40
      const before = service.cpu()
      const times: number[] = []
      for (let run = 0; run < runs; run++) times.push((await service.ask(path)).last)
      const cpu = service.cpu()
      const value = cpu === undefined || before === undefined ? median(times) : (cpu - before) / runs
      const title = `search: ${name}`
      return {
        name: title,
        value,
        unit: 'ms',
        rival: `the bound (${median(times).toFixed(1)} ms until the answer)`,
        rivalValue: SLOWEST_MS,
        ratio: value / SLOWEST_MS,
        most: 1,
      }
    }
    // A server that has just started uses much of its time to compile.
    for (let run = 0; run < WARM_RUNS; run++) await service.ask('/search?q=annual')
    for (const [name, question] of Object.entries(QUESTIONS)) {
      yield await ask(name, `/search?q=${encodeURIComponent(question)}`)
    }
    yield await ask('the last page of a frequent word', '/search?q=rate&limit=1000&offset=1000')
    yield await ask('a thousand of a frequent word', '/search?q=rate&limit=1000')
    yield await ask('a frequent word in one provider', '/providers/ecb/search?q=rate')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fill(file: string, count: number): Promise<void> {
  const index = new SearchIndex(file)
  const slugs = ['ecb', ...numbered('provider', PROVIDERS - 1)]
  for (const [number, slug] of slugs.entries()) {
    index.setCatalogued(slug)
    await index.addSeries(
      slug,
      Array.from({ length: count / PROVIDERS }, (_, n) => series(number, n)),
    )
  }
  index.close()
}

function series(provider: number, n: number): SeriesInfo {
  // Steps that have no common factor with the lengths of the lists, so that all combinations of words occur.
  const words = WORDS.map(
    (list, i) => list[(n * [1, 1, 5, 7, 11][i]! + provider * i + (n >> 3)) % list.length],
  )
  return {
    series_id: `S-${provider}7-${String(n).padStart(6, '0')}`,
    name: `${words.join(' ')} only${provider * 1_000_000 + n}`,
    frequency: 'monthly',
    unit: 'percent',
    start: '1990-01-01',
    end: '2024-12-01',
  }
}

function numbered(word: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `${word}${n}`)
}
