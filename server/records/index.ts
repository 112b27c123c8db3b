export type {
  Account,
  AccountChanges,
  ApiKey,
  CreatedAccount,
  CreatedNamedKey,
  LinkRecord,
  ManagedAccount,
  NamedKey,
  NewAccount,
  NewNamedKey,
  Plan,
} from './accounts.ts'
export type {
  Column,
  Dataset,
  DatasetChanges,
  DatasetCopy,
  DatasetPatch,
  DatasetSummary,
  DeclaredColumn,
  EditedRows,
  NewDataset,
  Version,
} from './datasets.ts'
export type { Profile } from './profile.ts'
export type {
  Categories,
  Category,
  Found,
  FoundInProvider,
  MissingSeries,
  Observation,
  Provider,
  Series,
  SeriesDimension,
  SeriesInfo,
  SeriesPage,
  SeriesTable,
  UserKey,
} from './providers.ts'
export type {
  Member,
  NewRepository,
  Permission,
  Repository,
  RepositoryChanges,
  RepositoryPatch,
} from './repositories.ts'
export type { Interval, NewSource, Source } from './sources.ts'
export type { Preview, TextReason, UploadFault, WrittenDataset } from './uploads.ts'
