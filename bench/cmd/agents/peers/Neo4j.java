import java.io.IOException;
import org.neo4j.harness.Neo4jBuilders;

/**
 * Neo4j serves an empty database over Bolt, without APOC. It prints the address, and ends with its standard input.
 */
public final class Neo4j {
  private Neo4j() {}

  public static void main(String[] args) throws IOException {
    try (var db = Neo4jBuilders.newInProcessBuilder().withDisabledServer().build()) {
      System.out.println(db.boltURI());
      while (System.in.read() >= 0) {}
    }
  }
}
