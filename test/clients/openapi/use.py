"""Uploads and reads through the client that openapi-python-client has made of our OpenAPI document."""

import sys

sys.path.insert(0, sys.argv[1])

from made.api.data import download_data, replace_data
from made.api.datasets import create_dataset
from made.api.repositories import create_repository, list_repositories
from made.client import Client
from made.models import (
    CreateDatasetBody,
    CreateRepositoryBody,
    Dataset,
    Repository,
    RowsAsObjects,
    WrittenDataset,
)
from made.models.download_data_format import DownloadDataFormat

_, _, address, key = sys.argv
client = Client(base_url=address, headers={"X-API-Key": key})

repository = create_repository.sync(client=client, body=CreateRepositoryBody(name="python"))
assert isinstance(repository, Repository), repository
dataset = create_dataset.sync(
    client=client, body=CreateDatasetBody(name="prices", repository_id=repository.id)
)
assert isinstance(dataset, Dataset), dataset
rows = RowsAsObjects.from_dict({"rows": [{"n": 1, "t": "é"}, {"n": 2, "t": None}]})
written = replace_data.sync(id=dataset.id, client=client, body=rows)
assert isinstance(written, WrittenDataset), written
print("uploaded", written.row_count, [column.type_ for column in written.columns])
answer = download_data.sync_detailed(
    id=dataset.id, client=client, filter_="n gt 1", format_=DownloadDataFormat.CSV, delimiter=";"
)
print("read", int(answer.status_code), repr(answer.content.decode()))
listed = list_repositories.sync(client=client)
assert isinstance(listed, list), listed
print("listed", [one.name for one in listed if one.name == "python"])
