import { createHash } from 'node:crypto'
import { ReadCache } from '../catalog/database.ts'
import type { DatasetRecord, Part, Version } from '../catalog/records.ts'
import { manifest, manifestList } from './manifest.ts'
import { type TableMetadata, tableMetadata } from './metadata.ts'
import type { Naming } from './table-schema.ts'

/** The place of the manifests, from which readers open them as files. */
export interface ManifestStore {
  /** The address of the manifest with this name; for an empty name, the address of their folder. */
  url(name: string): string
  /** Writes a manifest atomically, unless it exists. */
  write(name: string, bytes: Uint8Array): Promise<void>
  /** The names of all manifests, and of files beside them that are none. */
  all(): Promise<string[]>
  /** Those of them that this process knows without much work. */
  known(): Promise<string[]>
  remove(name: string): Promise<void>
}

/**
 * Versions as tables of Apache Iceberg. Manifests are made when a table is first asked for, since most versions are
 * never read this way. The content of a manifest depends only on the catalog, and its name depends on its content. So
 * it doesn't matter which node makes it or how often, or if a catalog that has since been restored from a backup made
 * another manifest for the same version number.
 */
export class IcebergTables {
  readonly #store: ManifestStore
  /** The names of the lists that were written. */
  readonly #written = new ReadCache()

  constructor(store: ManifestStore) {
    this.#store = store
  }

  /**
   * Call it while a lease keeps the version from being removed.
   * @param urlOf gives the address at which readers find a part
   */
  async metadata(
    dataset: DatasetRecord,
    version: Version,
    naming: Naming,
    urlOf: (part: Part) => string,
  ): Promise<TableMetadata> {
    const name = await this.#written.get(`${version.id} ${naming}`, () => this.#write(version, naming, urlOf))
    const place = { location: this.#store.url(''), manifestList: this.#store.url(name) }
    return tableMetadata(dataset, version, naming, place)
  }

  /** Writes the manifest before the list, so that an existing list never names a missing manifest. */
  async #write(version: Version, naming: Naming, urlOf: (part: Part) => string): Promise<string> {
    const files = await manifest(version, naming, urlOf)
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

/**
 * The id of the version to which the manifest of this name belongs; undefined if the name is not that of a manifest.
 */
export function versionOfManifest(name: string): number | undefined {
  const id = /^(\d+)-(?:manifest|list)-[0-9a-f]+\.avro$/.exec(name)?.[1]
  return id === undefined ? undefined : Number(id)
}
