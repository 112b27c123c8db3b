package org.openapitools.client;

import java.io.File;
import org.openapitools.client.api.DataApi;
import org.openapitools.client.api.DatasetsApi;
import org.openapitools.client.api.RepositoriesApi;
import org.openapitools.client.model.CreateDatasetRequest;
import org.openapitools.client.model.CreateRepositoryRequest;
import org.openapitools.client.model.Dataset;
import org.openapitools.client.model.ReplaceData200Response;
import org.openapitools.client.model.Repository;

/** Uploads a csv and reads rows through the client that openapi-generator has made of our OpenAPI document. */
public final class Use {
    /** Of several types of a body the generated code prefers JSON; the first is csv. */
    private static final class FirstType extends ApiClient {
        @Override
        public String selectHeaderContentType(String[] types) {
            return types.length == 0 ? null : types[0];
        }
    }

    public static void main(String[] args) throws Exception {
        ApiClient client = new FirstType().setBasePath(args[0]);
        client.setBearerToken(args[1]);
        Repository repository = new RepositoriesApi(client)
                .createRepository(new CreateRepositoryRequest().name(args[2])).execute();
        Dataset dataset = new DatasetsApi(client)
                .createDataset(new CreateDatasetRequest().name("prices").repositoryId(repository.getId())).execute();
        DataApi data = new DataApi(client);
        ReplaceData200Response written = data.replaceData(dataset.getId(), new File(args[3])).execute();
        System.out.println("uploaded " + written.getWrittenDataset().getRowCount());
        String rows = data.downloadData(dataset.getId()).$format("csv").$filter("n gt 1").execute();
        System.out.println("read " + rows.replace("\n", "|"));
    }
}
