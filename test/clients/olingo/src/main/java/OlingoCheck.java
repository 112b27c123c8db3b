import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import org.apache.olingo.client.api.ODataClient;
import org.apache.olingo.client.api.communication.request.retrieve.ODataEntitySetRequest;
import org.apache.olingo.client.api.communication.response.ODataRetrieveResponse;
import org.apache.olingo.client.api.domain.ClientEntity;
import org.apache.olingo.client.api.domain.ClientEntitySet;
import org.apache.olingo.client.api.domain.ClientPrimitiveValue;
import org.apache.olingo.client.core.ODataClientFactory;
import org.apache.olingo.client.core.http.BasicAuthHttpClientFactory;
import org.apache.olingo.commons.api.edm.Edm;
import org.apache.olingo.commons.api.edm.EdmEntityType;
import org.apache.olingo.commons.api.edm.FullQualifiedName;
import org.apache.olingo.commons.api.ex.ODataRuntimeException;

/**
 * Reads a feed with Olingo's client and prints what it found, one finding on each line.
 * Arguments: service root, key, entity set with the columns "n" (integer) and "word" (string), and a file with the
 * filters for each type of the entity set "kinds".
 */
public final class OlingoCheck {
  public static void main(String[] arguments) throws IOException {
    String root = arguments[0];
    String set = arguments[2];
    ODataClient client = ODataClientFactory.getClient();
    client.getConfiguration().setHttpClientFactory(new BasicAuthHttpClientFactory(arguments[1], "any"));

    var document = client.getRetrieveRequestFactory().getServiceDocumentRequest(root).execute().getBody();
    System.out.println("sets " + new TreeSet<>(document.getEntitySetNames()));

    Edm edm = client.getRetrieveRequestFactory().getMetadataRequest(root).execute().getBody();
    EdmEntityType type = edm.getEntityType(new FullQualifiedName("Parquetry", set + "Row"));
    System.out.println("key " + type.getKeyPredicateNames());
    for (String name : type.getPropertyNames()) {
      System.out.println("property " + name + " " + type.getProperty(name).getType().getName());
    }

    URI all = client.newURIBuilder(root).appendEntitySetSegment(set).build();
    long rows = 0;
    long pages = 0;
    long sum = 0;
    for (URI page = all; page != null; pages++) {
      ODataEntitySetRequest<ClientEntitySet> request = client.getRetrieveRequestFactory().getEntitySetRequest(page);
      request.setPrefer("odata.maxpagesize=30000");
      ODataRetrieveResponse<ClientEntitySet> response = request.execute();
      ClientEntitySet body = response.getBody();
      for (ClientEntity entity : body.getEntities()) {
        rows++;
        ClientPrimitiveValue value = entity.getProperty("n").getPrimitiveValue();
        sum += ((Number) value.toValue()).longValue();
      }
      page = body.getNext();
      if (page == null) {
        pages++;
        break;
      }
    }
    System.out.println("rows " + rows + " pages " + pages + " sum " + sum);

    URI filtered =
        client.newURIBuilder(root).appendEntitySetSegment(set)
            .filter("n gt 5 and contains(word,'w')").orderBy("n desc").top(2).select("n,word").count(true).build();
    ClientEntitySet found = client.getRetrieveRequestFactory().getEntitySetRequest(filtered).execute().getBody();
    System.out.println("filtered " + found.getCount() + " first " + found.getEntities().get(0).getProperty("n").getValue());

    URI one = client.newURIBuilder(root).appendEntitySetSegment(set).appendKeySegment(17L).build();
    ClientEntity entity = client.getRetrieveRequestFactory().getEntityRequest(one).execute().getBody();
    System.out.println("entity " + entity.getProperty("Row").getValue() + " " + entity.getProperty("n").getValue());

    URI count = client.newURIBuilder(root).appendEntitySetSegment(set).count().build();
    System.out.println("count " + client.getRetrieveRequestFactory().getValueRequest(count).execute().getBody());

    URI expanded = client.newURIBuilder(root).appendEntitySetSegment(set).expand("word").build();
    try {
      client.getRetrieveRequestFactory().getEntitySetRequest(expanded).execute().getBody();
      System.out.println("expanded");
    } catch (ODataRuntimeException error) {
      System.out.println("expand " + error.getMessage());
    }

    for (String line : Files.readAllLines(Path.of(arguments[3]))) {
      String column = line.split("\t")[0];
      ClientEntity hit = only(client, root, line.split("\t")[1]);
      Object empty = only(client, root, column + " eq null").getProperty("Row").getValue();
      System.out.println(column + " in row " + hit.getProperty("Row").getValue() + " is "
          + hit.getProperty(column).getValue() + ", null in row " + empty);
    }
  }

  /** The one entity of "kinds" that a filter finds. */
  private static ClientEntity only(ODataClient client, String root, String filter) {
    URI uri = client.newURIBuilder(root).appendEntitySetSegment("kinds").filter(filter).build();
    var entities = client.getRetrieveRequestFactory().getEntitySetRequest(uri).execute().getBody().getEntities();
    if (entities.size() != 1) {
      throw new IllegalStateException(filter + " finds " + entities.size() + " rows");
    }
    return entities.get(0);
  }
}
