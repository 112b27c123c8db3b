import type * as accounts from './accounts.ts'
import type * as datasets from './datasets.ts'
import type * as providers from './providers.ts'
import type * as repositories from './repositories.ts'
import type { FromSchema } from './schema.ts'
import type * as sources from './sources.ts'
import type * as uploads from './uploads.ts'

// The types of the records follow from their schemas.

export type Plan = FromSchema<typeof accounts.PLAN>
export type Account = FromSchema<typeof accounts.ACCOUNT>
export type ApiKey = FromSchema<typeof accounts.API_KEY>
export type ManagedAccount = FromSchema<typeof accounts.MANAGED_ACCOUNT>
export type CreatedAccount = FromSchema<typeof accounts.CREATED_ACCOUNT>
export type NewAccount = FromSchema<typeof accounts.NEW_ACCOUNT>
export type AccountChanges = FromSchema<typeof accounts.ACCOUNT_CHANGES>
export type LinkRecord = FromSchema<typeof accounts.LINK>
export type NewNamedKey = FromSchema<typeof accounts.NEW_NAMED_KEY>
export type NamedKey = FromSchema<typeof accounts.NAMED_KEY>
export type CreatedNamedKey = FromSchema<typeof accounts.CREATED_NAMED_KEY>

export type Column = FromSchema<typeof datasets.COLUMN>
export type DeclaredColumn = FromSchema<typeof datasets.DECLARED_COLUMNS>[number]
export type Dataset = FromSchema<typeof datasets.DATASET>
export type DatasetSummary = FromSchema<typeof datasets.DATASET_SUMMARY>
export type NewDataset = FromSchema<typeof datasets.NEW_DATASET>
export type DatasetChanges = FromSchema<typeof datasets.DATASET_CHANGES>
export type DatasetPatch = FromSchema<typeof datasets.DATASET_PATCH>
export type DatasetCopy = FromSchema<typeof datasets.COPY>
export type EditedRows = FromSchema<typeof datasets.EDITED_ROWS>
export type Version = FromSchema<typeof datasets.VERSION_RECORD>
export type Profile = FromSchema<typeof datasets.PROFILE>

export type UserKey = FromSchema<typeof providers.USER_KEY>
export type Provider = FromSchema<typeof providers.PROVIDER>
export type Category = FromSchema<typeof providers.CATEGORY>
export type Categories = FromSchema<typeof providers.CATEGORIES>
export type SeriesInfo = FromSchema<typeof providers.SERIES_INFO>
export type SeriesPage = FromSchema<typeof providers.SERIES_LIST>
export type SeriesDimension = FromSchema<typeof providers.DIMENSION>
export type Observation = FromSchema<typeof providers.OBSERVATION>
export type Series = FromSchema<typeof providers.SERIES>
export type FoundInProvider = FromSchema<typeof providers.SEARCH>
export type Found = FromSchema<typeof providers.SEARCH_ALL>
export type Release = FromSchema<typeof providers.RELEASE>
export type Releases = FromSchema<typeof providers.RELEASES>
export type MissingSeries = FromSchema<typeof providers.MISSING>
export type SeriesTable = FromSchema<typeof providers.SERIES_TABLE>

export type Repository = FromSchema<typeof repositories.REPOSITORY>
export type NewRepository = FromSchema<typeof repositories.NEW_REPOSITORY>
export type RepositoryChanges = FromSchema<typeof repositories.REPOSITORY_CHANGES>
export type RepositoryPatch = FromSchema<typeof repositories.REPOSITORY_PATCH>
export type Permission = Repository['permission']
export type Member = FromSchema<typeof repositories.MEMBER>

export type Source = FromSchema<typeof sources.SOURCE>
export type NewSource = FromSchema<typeof sources.NEW_SOURCE>
export type Interval = NonNullable<NewSource['every']>

export type TextReason = FromSchema<typeof uploads.BECAUSE>
export type WrittenDataset = FromSchema<typeof uploads.WRITTEN_DATASET>
export type UploadFault = FromSchema<typeof uploads.FAULT>
export type Preview = FromSchema<typeof uploads.PREVIEW>
