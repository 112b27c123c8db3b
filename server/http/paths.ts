import type { FastifyInstance } from 'fastify'
import { nearest } from '../../engine/index.ts'
import { ServerError } from './errors.ts'

/** Remembers which methods each path has, to tell a wrong method (405) from a wrong path (404). */
export class Paths {
  readonly #paths = new Map<string, { pattern: RegExp; methods: Set<string> }>()

  /** Call it before the routes are added. */
  collect(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url, method }) => {
      // A route that CORS adds to answer preflight requests; it is not one of ours.
      if (method === 'OPTIONS') return
      const path = this.#paths.get(url) ?? { pattern: patternOf(url), methods: new Set() }
      for (const name of [method].flat()) path.methods.add(name)
      this.#paths.set(url, path)
    })
  }

  /** A hint that names the path whose first segment is spelt almost so. */
  #meant(path: string): string {
    const routes = [...this.#paths]
    const firsts = routes.flatMap(([url]) => FIRST.exec(url) ?? [])
    const first = nearest(FIRST.exec(path)?.[0] ?? '', firsts)
    const meant = first === undefined ? path : path.replace(FIRST, () => first)
    return meant !== path && routes.some(([, { pattern }]) => pattern.test(meant))
      ? ` Did you mean ${meant}?`
      : ''
  }

  /** The error for a request that no route handles. */
  refusal(method: string, url: string): ServerError {
    const path = url.split('?', 1)[0]!
    const methods = [...this.#paths.values()].find(({ pattern }) => pattern.test(path))?.methods
    if (!methods?.size || methods.has(method)) {
      return new ServerError('unknown_path', `There is nothing at this path.${this.#meant(path)}`)
    }
    const allow = [...methods].sort().join(', ')
    return new ServerError(
      'method_not_allowed',
      `${method} is not supported here. Supported methods: ${allow}.`,
      {
        headers: { allow },
      },
    )
  }
}

/** The first segment of a path. */
const FIRST = /[^/]+/

function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((part) => {
      if (part === '*') return '.*'
      return part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    })
    .join('/')
  return new RegExp(`^${source}$`)
}
