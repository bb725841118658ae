import java.util.HashSet;
import java.util.Set;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.QueriesApi;
import org.openapitools.client.model.AddNoteArguments;
import org.openapitools.client.model.AddNoteBody;
import org.openapitools.client.model.FindSymbolsAnswer;
import org.openapitools.client.model.FindSymbolsArguments;
import org.openapitools.client.model.FindSymbolsBody;
import org.openapitools.client.model.FindSymbolsRow;
import org.openapitools.client.model.MostCalledArguments;
import org.openapitools.client.model.MostCalledBody;
import org.openapitools.client.model.NotesAboutArguments;
import org.openapitools.client.model.NotesAboutBody;

/** Calls stored queries of the code graph with the client that openapi-generator made. */
public class Main {
    public static void main(String[] args) throws ApiException {
        ApiClient client = new ApiClient();
        client.updateBaseUri(System.getenv("OMNIGRAPH_URL"));
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv("OMNIGRAPH_TOKEN")));
        QueriesApi queries = new QueriesApi(client);

        String callers = queries.mostCalled("string", null, null, new MostCalledBody().params(new MostCalledArguments().limit(1L))).getRows().get(0).getCallers();
        check(Long.parseLong(callers) > 0, callers);

        Set<String> paths = new HashSet<>();
        FindSymbolsBody body = new FindSymbolsBody().params(new FindSymbolsArguments().words("shelf")).maxRows(1);
        for (int pages = 1;; pages++) {
            FindSymbolsAnswer page = queries.findSymbols("string", body, null, null);
            for (FindSymbolsRow row : page.getRows()) {
                paths.add(row.getPath());
            }
            if (page.getNextPageToken() == null) {
                check(pages > 1 && paths.size() == pages, paths);
                break;
            }
            body.setPageToken(page.getNextPageToken());
        }

        String symbol = paths.iterator().next();
        AddNoteBody note = new AddNoteBody().params(new AddNoteArguments().slug("from-java").symbol(symbol).text("Hello."));
        for (int i = 0; i < 2; i++) {
            long nodes = queries.addNote("string", note, "java-1", null, null, null, null).getAffectedNodes();
            check(nodes == 1, nodes);
        }
        long notes = queries.notesAbout("string", new NotesAboutBody().params(new NotesAboutArguments().symbol(symbol)), null, null)
            .getRows().stream().filter(row -> row.getSlug().equals("from-java")).count();
        check(notes == 1, notes);

        try {
            queries.findSymbols("string", new FindSymbolsBody().params(new FindSymbolsArguments().words("x").limit(100_000L)), null, null);
            throw new AssertionError("find_symbols took a limit of 100,000");
        } catch (ApiException refused) {
            check(refused.getCode() == 400 && refused.getResponseBody().contains("bad_request"), refused.getResponseBody());
        }
    }

    static void check(boolean holds, Object found) {
        if (!holds) {
            throw new AssertionError("found " + found);
        }
    }
}
