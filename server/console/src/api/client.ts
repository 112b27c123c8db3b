import { sessionKey, setSessionKey } from '../session.ts'

/** What the service answered instead of what was asked for. `message` is its sentence, fit to be shown. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    status: number,
    code: string,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly json?: unknown
  readonly signal?: AbortSignal
  /** Another key than the session's, to try one before signing in with it. */
  readonly key?: string
}

/** The key goes as the user name of Basic; the password is empty. Keys are ASCII, which is all that btoa takes. */
export function authorization(key: string): string {
  return `Basic ${btoa(`${key}:`)}`
}

const RETRIES = 3

/**
 * Sends a request and resolves with a good answer; its body is the caller's to read.
 *
 * @throws ApiError for every other answer, and for no answer at all (status 0). A refused key also signs out.
 */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    const response = await attemptSend(path, options)
    if (response.ok) return response
    const error = await errorOf(response)
    // "Busy" is the one answer worth repeating by itself; everything else is the user's to see.
    if (error.status === 503 && (options.method ?? 'GET') === 'GET' && attempt < RETRIES) {
      await pause(retryDelay(response, attempt), options.signal)
      continue
    }
    if (error.status === 401 && options.key === undefined) setSessionKey(undefined)
    throw error
  }
}

/** Sends a request and reads its JSON answer. */
export async function sendForJson<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(path, options)
  return (response.status === 204 ? undefined : await response.json()) as T
}

async function attemptSend(path: string, options: RequestOptions): Promise<Response> {
  const key = options.key ?? sessionKey()
  const headers: Record<string, string> = { Accept: 'application/json, */*' }
  if (key !== undefined) headers['Authorization'] = authorization(key)
  if (options.json !== undefined) headers['Content-Type'] = 'application/json'
  try {
    return await fetch(path, {
      method: options.method ?? 'GET',
      headers,
      body: options.json === undefined ? undefined : JSON.stringify(options.json),
      signal: options.signal,
      // Without it a refused key would open the browser's own password window.
      credentials: 'omit',
    })
  } catch (cause) {
    if (isAbort(cause)) throw cause
    throw new ApiError(0, 'unreachable', 'The server can not be reached. Check that it runs, then try again.')
  }
}

/** The error that an answer stands for; 401 and 500 may come without a JSON body. */
async function errorOf(response: Response): Promise<ApiError> {
  return errorFromBody(response.status, await response.text().catch(() => ''))
}

export function errorFromBody(status: number, text: string): ApiError {
  try {
    const body: unknown = JSON.parse(text)
    if (isRecord(body) && typeof body['error'] === 'string') {
      const details = isRecord(body['details']) ? body['details'] : {}
      return new ApiError(status, String(body['code'] ?? ''), body['error'], details)
    }
  } catch {
    // Not JSON: the status alone has to speak.
  }
  return new ApiError(
    status,
    '',
    status === 401 ? 'The key was not accepted.' : `The server answered with status ${status}.`,
  )
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** The sentence to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function retryDelay(response: Response, attempt: number): number {
  const asked = Number(response.headers.get('Retry-After'))
  return Math.min(asked > 0 ? asked * 1000 : 300 * 2 ** attempt, 5_000)
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
