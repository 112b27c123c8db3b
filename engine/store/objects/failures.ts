import type * as Sdk from '@aws-sdk/client-s3'
import { EngineError, isTlsFailure } from '../../errors.ts'

export function isStatus(error: unknown, status: number): boolean {
  return (error as Sdk.S3ServiceException).$metadata?.httpStatusCode === status
}

export function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name
}

/** Whether the connection broke after the answer had begun. The SDK itself only retries failures before that. */
export function isBroken(error: unknown): boolean {
  if (error instanceof MissingObject) return false
  return (error as Partial<Sdk.S3ServiceException>).$metadata?.httpStatusCode === undefined
}

/** The answer to a question about an object; undefined if there is no such object. */
export async function ifThere<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response
  } catch (error) {
    if (isStatus(error, 404) && !isNamed(error, 'NoSuchBucket')) return undefined
    throw failure(error)
  }
}

export function failure(error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason
  const { code, path } = error as NodeJS.ErrnoException
  // If a local file can't be read, the store is not to blame.
  if (error instanceof MissingObject || (code !== undefined && path !== undefined)) return error
  if (isStatus(error, 401) || isStatus(error, 403)) {
    const { name } = error as Error
    const message =
      `The store of the rows rejects this server's credentials (${name}). Nothing was changed; whoever runs the server ` +
      'has to correct them.'
    return new EngineError('storage_unavailable', message, { cause: error })
  }
  if (isTlsFailure(error)) {
    const message =
      `The certificate of the store of the rows is not accepted: ${error.message}. NODE_EXTRA_CA_CERTS=/path/ca.crt makes ` +
      'its authority known to this server.'
    return new EngineError('storage_unavailable', message, { cause: error })
  }
  return storeUnavailable(error)
}

/**
 * The error that a store has no object of this key, that the object has fewer bytes than were asked for, or that it was
 * changed.
 */
export class MissingObject extends Error {
  override readonly name = 'MissingObject'
  /** Whether there is an object, but with another tag than wanted. */
  readonly isChanged: boolean

  constructor(key: string, { isChanged = false, ...options }: ErrorOptions & { isChanged?: boolean } = {}) {
    super(
      isChanged ? `the object ${key} was changed` : `there is no object ${key}, or it is too short`,
      options,
    )
    this.isChanged = isChanged
  }
}

/** The error for a store that is down, too slow, or refuses our requests. Its cause is meant for the log only. */
export function storeUnavailable(cause: unknown): EngineError {
  return new EngineError(
    'storage_unavailable',
    'The store of the rows can not be reached at the moment. Nothing was changed; try again later.',
    { cause },
  )
}
