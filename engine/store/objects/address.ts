import { invalidOption } from '../../errors.ts'

/** The address of an S3-compatible store, and how requests to it must be made. */
export interface S3Address {
  readonly bucket: string
  /** Every key begins with it. It is empty or ends with `/`. */
  readonly prefix: string
  /** `https://host:port` of a store other than Amazon's. */
  readonly endpoint?: string | undefined
  /** The default is `us-east-1` if an endpoint is given; else it comes from the environment (`AWS_REGION`). */
  readonly region?: string | undefined
  /** Use `https://host/bucket/key` instead of `https://bucket.host/key`; the default if an endpoint is given. */
  readonly pathStyle?: boolean | undefined
}

/**
 * The bucket and the rest of `s3://bucket/key`, which is not checked.
 * @throws EngineError `invalid_option`
 */
export function splitS3(text: string): { readonly bucket: string; readonly key: string } {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]*)\/?(.*)$/s.exec(text) ?? []
  return { bucket: parseS3Address(`s3://${bucket}`).bucket, key }
}

/** How requests to a store are made; what is not given is what most stores of that kind need. */
export function s3Requests({
  endpoint,
  region,
  pathStyle,
}: Omit<S3Address, 'bucket' | 'prefix'>): Omit<S3Address, 'bucket' | 'prefix'> {
  if (endpoint === undefined) return { region, pathStyle: pathStyle ?? false }
  return { endpoint, region: region ?? 'us-east-1', pathStyle: pathStyle ?? true }
}

/** Amazon's rules for bucket names (S3 User Guide, "General purpose bucket naming rules"), plus capital letters. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/
/** Characters that S3 calls safe in keys and that need no escapes in a URL, in SQL or in a glob pattern. */
const PREFIX = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/

/**
 * Reads `s3://bucket/prefix`.
 * @throws EngineError `invalid_option`
 */
export function parseS3Address(text: string, how: Omit<S3Address, 'bucket' | 'prefix'> = {}): S3Address {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)(?:\/(.*?)\/*)?$/.exec(text) ?? []
  if (!BUCKET.test(bucket)) {
    throw invalidOption(
      `The store must be given as s3://bucket/prefix, with the name of a bucket; this is ${JSON.stringify(text)}.`,
    )
  }
  if (path !== '' && (!PREFIX.test(path) || path.split('/').some((step) => /^\.+$/.test(step)))) {
    throw invalidOption(
      `The prefix in ${JSON.stringify(text)} may hold letters, digits, . _ - and / between them.`,
    )
  }
  return { ...how, bucket, prefix: path === '' ? '' : `${path}/` }
}

export function nameOf({ bucket, prefix }: S3Address): string {
  return `s3://${bucket}/${prefix.replace(/\/$/, '')}`
}
