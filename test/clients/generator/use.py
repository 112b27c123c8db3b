"""Uploads a csv and reads rows through the client that openapi-generator has made of our OpenAPI document."""

import sys

from openapi_client import (
    ApiClient,
    Configuration,
    CreateDatasetRequest,
    CreateRepositoryRequest,
    DataApi,
    DatasetsApi,
    RepositoriesApi,
)

_, address, key, name, csv = sys.argv
client = ApiClient(Configuration(host=address, access_token=key))
repository = RepositoriesApi(client).create_repository(CreateRepositoryRequest(name=name))
dataset = DatasetsApi(client).create_dataset(
    CreateDatasetRequest(name="prices", repository_id=repository.id)
)
with open(csv, "rb") as file:
    # Of several types the generated code prefers JSON.
    answer = DataApi(client).replace_data(dataset.id, file.read(), _content_type="text/csv")
written = answer.actual_instance
print("uploaded", written.row_count)
print("read", DataApi(client).download_data(dataset.id, format="csv", filter="n gt 1").replace("\n", "|"))
