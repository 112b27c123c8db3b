import type { Hit, Reply } from '../../connectors/support/upstream.ts'

/**
 * A provider that tells everybody every key that it is asked with, in all the ways in which it can fail: the id of a
 * series says in which. It takes all keys but one.
 */
export function chattyProvider(refused: string): (hit: Hit) => Reply {
  return (hit) => answer(hit, refused)
}

function answer(hit: Hit, refused: string): Reply {
  const told = `${hit.query.get('api_key') ?? hit.query.get('apikey')} from ${hit.url}`
  if (told.startsWith(refused)) {
    const error = 'Bad Request. The value for variable api_key is not registered.'
    return { status: 400, body: { error_code: 400, error_message: `${error} ${told}` } }
  }
  switch (hit.query.get('series_id') ?? hit.query.get('category_id')) {
    case '0':
      return { body: { categories: [{ id: 1, name: 'One', notes: '' }] } }
    case 'GOOD':
      return hit.path.endsWith('observations')
        ? { body: { count: 1, observations: [{ date: '2024-01-01', value: '1.5' }] } }
        : { body: { seriess: [{ id: 'GOOD', title: 'Good' }] } }
    case 'DOWN':
      return { status: 500, body: told, headers: { 'x-key': told } }
    case 'SLOW':
      return { raw: () => {} }
    case 'ODD':
      return { body: told }
    case 'CUT':
      return { body: `{"seriess": [{"title": "${told}`, type: 'application/json' }
    case 'AWAY':
      return { status: 302, headers: { location: `http://away.example/${encodeURIComponent(told)}` } }
    case 'BUSY':
      return { status: 429, body: { error_code: 429, error_message: told } }
    case 'BROKEN':
      return { raw: (response) => response.socket?.destroy() }
    default:
      return { status: 404, body: { error_code: 404, error_message: told } }
  }
}
