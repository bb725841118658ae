import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.GraphDatabaseService;
import org.neo4j.graphdb.Label;
import org.neo4j.graphdb.RelationshipType;
import org.neo4j.graphdb.Transaction;

/**
 * Network runs Neo4j within this process, with a network of the Social Network Benchmark.
 *
 * <p>The arguments are the folder of the database, the folder of the CSV files, and the file with the reads. When all is
 * loaded and indexed, the program prints "ready". Each line of the standard input then has the name of a read, the word
 * "rows" or "time", and the arguments, separated by tabs; an argument begins with "n" for a number or "s" for a text. The
 * answer is a line with the number of rows and, for "rows", a line for each row with its values separated by tabs.
 */
public final class Network {
  private static final DateTimeFormatter INSTANT = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSxx");

  private final GraphDatabaseService db;
  private final Path csv;
  private final Map<String, Map<Long, Long>> nodes = new HashMap<>(); // by kind and id, Neo4j's own number
  private Transaction tx;
  private int pending;

  private Network(GraphDatabaseService db, Path csv) {
    this.db = db;
    this.csv = csv;
  }

  public static void main(String[] args) throws Exception {
    var service =
        new DatabaseManagementServiceBuilder(Path.of(args[0]))
            .setConfig(GraphDatabaseSettings.pagecache_memory, 1L << 30)
            .setConfig(GraphDatabaseSettings.forbid_shortestpath_common_nodes, false)
            .build();
    try {
      var db = service.database(GraphDatabaseSettings.DEFAULT_DATABASE_NAME);
      new Network(db, Path.of(args[1])).load();
      answer(db, reads(Path.of(args[2])));
    } finally {
      service.shutdown();
    }
  }

  /** Reads the statements by their names. */
  private static Map<String, String> reads(Path file) throws IOException {
    var out = new HashMap<String, String>();
    String name = null;
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith("//: ")) {
        name = line.substring(4);
        out.put(name, "");
      } else if (name != null) {
        out.merge(name, line + "\n", String::concat);
      }
    }
    return out;
  }

  /** Answers the lines of the standard input. */
  private static void answer(GraphDatabaseService db, Map<String, String> reads) throws IOException {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    out.println("ready");
    out.flush();
    for (String line; (line = in.readLine()) != null; ) {
      String[] fields = line.split("\t", -1);
      var params = new HashMap<String, Object>();
      for (int i = 2; i < fields.length; i++) {
        String text = fields[i].substring(1);
        params.put("p" + (i - 1), fields[i].charAt(0) == 'n' ? (Object) Long.parseLong(text) : text);
      }
      boolean keep = fields[1].equals("rows");
      var rows = new StringBuilder();
      long count = 0;
      try (var tx = db.beginTx();
          var result = tx.execute(reads.get(fields[0]), params)) {
        var columns = result.columns();
        while (result.hasNext()) {
          var row = result.next();
          count++;
          if (keep) {
            rows.append(columns.stream().map(c -> text(row.get(c))).collect(Collectors.joining("\t"))).append('\n');
          }
        }
      }
      out.print(count + "\n" + rows);
      out.flush();
    }
  }

  /** Returns a value in the form in which answers are compared. */
  private static String text(Object value) {
    if (value instanceof String[] array) {
      value = List.of(array);
    }
    if (value instanceof List<?> list) {
      return list.stream().map(Network::text).sorted().collect(Collectors.joining(";"));
    }
    return String.valueOf(value);
  }

  private void load() throws IOException {
    var emails = lists("dynamic/person_email_emailaddress");
    var speaks = lists("dynamic/person_speaks_language");
    nodes("static/place", "Place", Map.of());
    nodes("static/organisation", "Organisation", Map.of());
    nodes("static/tagclass", "TagClass", Map.of());
    nodes("static/tag", "Tag", Map.of());
    nodes("dynamic/person", "Person", Map.of("emails", emails, "speaks", speaks));
    nodes("dynamic/forum", "Forum", Map.of());
    nodes("dynamic/post", "Post", Map.of());
    nodes("dynamic/comment", "Comment", Map.of());
    edges("static/place_isPartOf_place", "Place", "PART_OF", "Place");
    edges("static/organisation_isLocatedIn_place", "Organisation", "LOCATED_IN", "Place");
    edges("static/tagclass_isSubclassOf_tagclass", "TagClass", "SUBCLASS_OF", "TagClass");
    edges("static/tag_hasType_tagclass", "Tag", "HAS_TYPE", "TagClass");
    edges("dynamic/person_isLocatedIn_place", "Person", "LIVES_IN", "Place");
    edges("dynamic/person_hasInterest_tag", "Person", "HAS_INTEREST", "Tag");
    edges("dynamic/person_studyAt_organisation", "Person", "STUDY_AT", "Organisation");
    edges("dynamic/person_workAt_organisation", "Person", "WORK_AT", "Organisation");
    edges("dynamic/person_knows_person", "Person", "KNOWS", "Person");
    edges("dynamic/forum_hasModerator_person", "Forum", "HAS_MODERATOR", "Person");
    edges("dynamic/forum_hasTag_tag", "Forum", "FORUM_TAG", "Tag");
    edges("dynamic/forum_hasMember_person", "Forum", "HAS_MEMBER", "Person");
    edges("dynamic/forum_containerOf_post", "Forum", "CONTAINER_OF", "Post");
    edges("dynamic/comment_replyOf_post", "Comment", "REPLY_OF", "Post");
    edges("dynamic/comment_replyOf_comment", "Comment", "REPLY_OF", "Comment");
    for (String kind : List.of("Post", "Comment")) {
      String file = kind.toLowerCase();
      edges("dynamic/" + file + "_hasCreator_person", kind, "HAS_CREATOR", "Person");
      edges("dynamic/" + file + "_isLocatedIn_place", kind, "SENT_FROM", "Place");
      edges("dynamic/" + file + "_hasTag_tag", kind, "HAS_TAG", "Tag");
      edges("dynamic/person_likes_" + file, "Person", "LIKES", kind);
    }
    commit();
    try (var schema = db.beginTx()) {
      for (String index :
          List.of("Person(id)", "Person(firstName)", "Message(id)", "Forum(id)", "Tag(name)", "TagClass(name)", "Place(name)")) {
        int at = index.indexOf('(');
        schema.execute("CREATE INDEX FOR (n:" + index.substring(0, at) + ") ON (n." + index.substring(at + 1, index.length() - 1) + ")");
      }
      schema.commit();
    }
    try (var wait = db.beginTx()) {
      wait.schema().awaitIndexesOnline(2, TimeUnit.HOURS);
    }
  }

  /** Returns the transaction to write in. */
  private Transaction writing() {
    if (pending++ == 20_000) {
      commit();
    }
    if (tx == null) {
      tx = db.beginTx();
    }
    return tx;
  }

  private void commit() {
    if (tx != null) {
      tx.commit();
      tx.close();
    }
    tx = null;
    pending = 0;
  }

  private BufferedReader open(String file) throws IOException {
    return Files.newBufferedReader(csv.resolve(file + "_0_0.csv"));
  }

  /** Reads the values of a file that has an id and a value in each line. */
  private Map<Long, List<String>> lists(String file) throws IOException {
    var out = new HashMap<Long, List<String>>();
    try (var in = open(file)) {
      in.readLine();
      for (String line; (line = in.readLine()) != null; ) {
        int bar = line.indexOf('|');
        out.computeIfAbsent(Long.parseLong(line.substring(0, bar)), id -> new ArrayList<>()).add(line.substring(bar + 1));
      }
    }
    return out;
  }

  /** Makes a node for each line of a file. A column `type` is a further label. */
  private void nodes(String file, String kind, Map<String, Map<Long, List<String>>> more) throws IOException {
    var numbers = nodes.computeIfAbsent(kind, k -> new HashMap<>());
    try (var in = open(file)) {
      String[] header = in.readLine().split("\\|");
      for (String line; (line = in.readLine()) != null; ) {
        String[] fields = line.split("\\|", -1);
        var node = writing().createNode(Label.label(kind));
        if (kind.equals("Post") || kind.equals("Comment")) {
          node.addLabel(Label.label("Message"));
        }
        long id = Long.parseLong(fields[0]);
        for (int i = 0; i < header.length; i++) {
          if (header[i].equals("type")) {
            node.addLabel(Label.label(fields[i].substring(0, 1).toUpperCase() + fields[i].substring(1)));
          } else if (header[i].equals("imageFile")) {
            if (!fields[i].isEmpty()) {
              node.setProperty("content", fields[i]);
            }
          } else if (!fields[i].isEmpty()) {
            node.setProperty(header[i], value(header[i], fields[i]));
          }
        }
        more.forEach((name, values) -> node.setProperty(name, values.getOrDefault(id, Collections.emptyList()).toArray(new String[0])));
        numbers.put(id, node.getId());
      }
    }
  }

  /** Makes a relationship for each line of a file. A third column is a property. */
  private void edges(String file, String from, String type, String to) throws IOException {
    var sources = nodes.get(from);
    var targets = nodes.get(to);
    try (var in = open(file)) {
      String[] header = in.readLine().split("\\|");
      for (String line; (line = in.readLine()) != null; ) {
        String[] fields = line.split("\\|", -1);
        var tx = writing();
        var edge =
            tx.getNodeById(sources.get(Long.parseLong(fields[0])))
                .createRelationshipTo(tx.getNodeById(targets.get(Long.parseLong(fields[1]))), RelationshipType.withName(type));
        if (fields.length == 3) {
          edge.setProperty(header[2], value(header[2], fields[2]));
        }
      }
    }
  }

  /** Returns a field as a value of the database. Instants are numbers of milliseconds. */
  private static Object value(String name, String text) {
    return switch (name) {
      case "id", "length", "classYear", "workFrom" -> Long.parseLong(text);
      case "birthday" -> LocalDate.parse(text);
      case "creationDate", "joinDate" -> OffsetDateTime.parse(text, INSTANT).toInstant().toEpochMilli();
      default -> text;
    };
  }
}
