/**
 * Whether the time of an answer tells what the answer itself does not: `node bench/service/timing.ts [ROUNDS]`.
 *
 * Every operation of the OpenAPI document is asked by callers without rights, once of things that exist and once of
 * things that don't; so are pairs of keys and of names that must look alike. Where the two answers are the same, both
 * are asked in turns, and the figure is how often the slower of a pair is the same one: half of the time if nothing can
 * be told. Exits with 1 where it is more than the bound.
 */
import { dataset, platform, ROOT_KEY } from '../../test/server/platform.ts'
import { median, timed } from '../case.ts'

const ROUNDS = Number(process.argv[2] ?? 400)
const WARM_UP = 20
/** One request in five more than chance would already be a leak; less is the noise of a shared machine. */
const MOST = 0.6

interface Probe {
  readonly key: string | undefined
  readonly method: string
  readonly url: string
  readonly json?: object
}

await using at = await platform()
const [ada, bob] = [await at.account('ada'), await at.account('bob')]
const { repository, id } = await dataset(at, ada, { private: true })
const nowhere = 987_654

const ask = ({ key, method, url, json }: Probe) => at.call(key, method, url, json ? { json } : {})
const tell = async (probe: Probe) => {
  const { statusCode, body } = await ask(probe)
  return `${statusCode} ${body.replace(/\d+|"[^"]*\b(ada|bob|nobody)\b[^"]*"/g, '#')}`
}

let measured = 0
const worst: { what: string; share: number; a: number; b: number }[] = []

/** Measures two requests if their answers are the same. */
async function compare(what: string, a: Probe, b: Probe): Promise<void> {
  if ((await tell(a)) !== (await tell(b))) return
  const times: [number[], number[]] = [[], []]
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const pair: [number, number] = [0, 0]
    // Which of the two comes first must not matter.
    for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) {
      pair[which] = await timed(() => ask(which === 0 ? a : b))
    }
    if (round >= 0) for (const which of [0, 1] as const) times[which].push(pair[which])
  }
  const slower = times[0].filter((time, round) => time > times[1][round]!).length / ROUNDS
  measured += 1
  worst.push({ what, share: Math.max(slower, 1 - slower), a: median(times[0]), b: median(times[1]) })
}

const callers: Readonly<Record<string, string | undefined>> = {
  nobody: undefined,
  'an unknown key': `pq_${'x'.repeat(ada.length - 3)}`,
  'a key with a true beginning': `${ada.slice(0, -4)}xxxx`,
  'a stranger': bob,
}

const { paths } = (await at.call(undefined, 'GET', '/openapi.json')).json() as {
  paths: Record<string, Record<string, unknown>>
}
for (const [path, methods] of Object.entries(paths)) {
  const fill = (exists: boolean) =>
    path
      .replace('{id}', String(exists ? (path.startsWith('/repositories') ? repository : id) : nowhere))
      .replace('{account}', exists ? 'ada' : 'nobody')
      .replace('{slug}', exists ? 'fred' : 'nothing')
      .replace(/\{\w+\}/g, exists ? '1' : String(nowhere))
  const [there, gone] = [fill(true), fill(false)]
  if (there === gone) continue
  for (const method of Object.keys(methods).map((one) => one.toUpperCase())) {
    for (const [caller, key] of Object.entries(callers)) {
      const json = method === 'PUT' || method === 'POST' ? {} : undefined
      const probe = (url: string) => ({ key, method, url, ...(json && { json }) })
      await compare(`${method} ${path} by ${caller}`, probe(there), probe(gone))
    }
  }
}

const account = (key: string | undefined) => ({ key, method: 'GET', url: '/account' })
await compare(
  'an unknown key, and one with a true beginning',
  account(callers['an unknown key']),
  account(callers['a key with a true beginning']),
)
await compare(
  'an unknown key, and one with the beginning of the admin’s',
  account('x'.repeat(ROOT_KEY.length)),
  account(`${ROOT_KEY.slice(0, -2)}xx`),
)
const member = (name: string) => ({
  key: ada,
  method: 'PUT',
  url: `/repositories/${repository}/members/${name}`,
  json: { permission: 'Read' },
})
await compare('a member who has an account, and one who has none', member('bob'), member('nobody'))

worst.sort((one, other) => other.share - one.share)
console.log(`${measured} pairs of the same answer, ${ROUNDS} rounds each; the ten most unlike:`)
for (const { what, share, a, b } of worst.slice(0, 10)) {
  console.log(`${(100 * share).toFixed(1).padStart(5)} %  ${a.toFixed(3)} and ${b.toFixed(3)} ms  ${what}`)
}
const leaks = worst.filter(({ share }) => share > MOST)
if (leaks.length > 0)
  console.error(`${leaks.length} can be told apart in more than ${100 * MOST} % of the pairs.`)
process.exitCode = leaks.length > 0 ? 1 : 0
