import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.Label;

/**
 * Search runs Neo4j within this process, with a full-text index of posts.
 *
 * <p>Standard input begins with one line per post, which has the key, a tab and the text. An empty line ends the posts,
 * and the program answers "ready". Each further line has words to look for. The program answers with the nanoseconds that
 * the search took, and then with the keys of the best ten posts, separated by spaces.
 */
public final class Search {
  private static final Label POST = Label.label("Post");

  public static void main(String[] args) throws Exception {
    var service =
        new DatabaseManagementServiceBuilder(Path.of(args[0]))
            .setConfig(GraphDatabaseSettings.pagecache_memory, 1L << 30)
            .build();
    try {
      var db = service.database(GraphDatabaseSettings.DEFAULT_DATABASE_NAME);
      var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 20);
      var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
      var tx = db.beginTx();
      int pending = 0;
      for (String line; (line = in.readLine()) != null && !line.isEmpty(); ) {
        int tab = line.indexOf('\t');
        var node = tx.createNode(POST);
        node.setProperty("slug", line.substring(0, tab));
        node.setProperty("text", line.substring(tab + 1));
        if (++pending == 20_000) {
          tx.commit();
          tx.close();
          tx = db.beginTx();
          pending = 0;
        }
      }
      tx.commit();
      tx.close();
      try (var schema = db.beginTx()) {
        schema.execute(
            "CREATE FULLTEXT INDEX posts FOR (p:Post) ON EACH [p.text]"
                + " OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words'}}");
        schema.commit();
      }
      try (var wait = db.beginTx()) {
        wait.schema().awaitIndexesOnline(2, TimeUnit.HOURS);
      }
      out.println("ready");
      out.flush();
      var keys = new StringBuilder();
      for (String words; (words = in.readLine()) != null; ) {
        keys.setLength(0);
        long begin = System.nanoTime();
        try (var read = db.beginTx();
            var rows =
                read.execute(
                    "CALL db.index.fulltext.queryNodes('posts', $words, {limit: 10}) YIELD node, score"
                        + " RETURN node.slug AS slug, score",
                    Map.of("words", words))) {
          while (rows.hasNext()) {
            var row = rows.next();
            if ((double) row.get("score") > 0) {
              keys.append(' ').append(row.get("slug"));
            }
          }
        }
        long took = System.nanoTime() - begin;
        out.println(took + keys.toString());
        out.flush();
      }
    } finally {
      service.shutdown();
    }
  }
}
