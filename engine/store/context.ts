import type { Datasets } from '../catalog/datasets.ts'
import type { History } from '../catalog/history.ts'
import type { Parts } from '../catalog/parts.ts'
import type { Keep } from '../catalog/records.ts'
import type { Versions } from '../catalog/versions.ts'
import type { PartSizes } from '../engine-options.ts'
import type { Events } from '../events.ts'
import type { ManifestStore } from '../iceberg/tables.ts'
import type { Ingestor } from '../ingest/ingestor.ts'
import type { Background } from '../util/concurrency.ts'
import type { Membership } from './membership/membership.ts'
import type { Storage } from './storage.ts'
import type { UploadLimits } from './upload.ts'

/** What those that work in a store share; the `Store` has it. */
export interface StoreContext {
  readonly storage: Storage
  readonly events: Events
  readonly background: Background
  readonly datasets: Datasets
  readonly versions: Versions
  readonly history: History
  readonly parts: Parts
  readonly members: Membership
  readonly manifests: ManifestStore
  readonly sizes: PartSizes
  readonly uploadLimits: UploadLimits
  /** How long versions of datasets stay that were given no other time. */
  readonly keep: Keep
  /** Opened with the first upload. */
  ingestor(): Promise<Ingestor>
}
