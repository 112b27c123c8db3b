import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { DatasetRecord, Part, Version } from '../catalog/records.ts'
import { manifest, manifestList } from './manifest.ts'
import { type TableMetadata, tableMetadata } from './metadata.ts'
import type { Naming } from './schema.ts'

/** Where manifests lie, for readers who open files themselves. */
export interface ManifestStore {
  /** Where readers find a manifest of that name; of an empty name, where all of them lie. */
  url(name: string): string
  /** Writes a manifest as a whole, unless it is there. */
  write(name: string, bytes: Uint8Array): Promise<void>
}

/** Versions whose manifests are known to be written. */
const MOST_KNOWN = 10_000

/**
 * Versions as tables of Apache Iceberg. Manifests are made when a table is first asked for, since most versions are
 * never read this way. What is in a manifest follows from the catalog alone, and its name from what is in it: so it
 * doesn't matter which node makes it, how often, or whether an older catalog once made another one for that number.
 */
export class IcebergTables {
  readonly #store: ManifestStore
  readonly #written = new LRUCache<number, Promise<string>>({ max: MOST_KNOWN })

  constructor(store: ManifestStore) {
    this.#store = store
  }

  /**
   * Call it while the version is held.
   * @param urlOf where readers find a part
   */
  async metadata(
    dataset: DatasetRecord,
    version: Version,
    naming: Naming,
    urlOf: (part: Part) => string,
  ): Promise<TableMetadata> {
    const name = await this.#manifestList(version, urlOf)
    const place = { location: this.#store.url(''), manifestList: this.#store.url(name) }
    return tableMetadata(dataset, version, naming, place)
  }

  #manifestList(version: Version, urlOf: (part: Part) => string): Promise<string> {
    const known = this.#written.get(version.id)
    if (known) return known
    const written = this.#write(version, urlOf)
    this.#written.set(version.id, written)
    // What failed is tried again.
    written.catch(() => this.#written.delete(version.id))
    return written
  }

  /** Manifest first, so that a list which is there is whole. */
  async #write(version: Version, urlOf: (part: Part) => string): Promise<string> {
    const files = await manifest(version, urlOf)
    const name = nameOf(version, 'manifest', files)
    await this.#store.write(name, files)
    const list = await manifestList(version, { url: this.#store.url(name), bytes: files.length })
    const listName = nameOf(version, 'list', list)
    await this.#store.write(listName, list)
    return listName
  }
}

function nameOf({ id }: Version, kind: 'manifest' | 'list', bytes: Uint8Array): string {
  return `${id}-${kind}-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}.avro`
}

/** The version that a manifest belongs to, by its name; undefined for files of other kinds. */
export function versionOfManifest(name: string): number | undefined {
  const id = /^(\d+)-(?:manifest|list)-[0-9a-f]+\.avro$/.exec(name)?.[1]
  return id === undefined ? undefined : Number(id)
}
