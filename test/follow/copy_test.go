package follow

import (
	"regexp"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// TestCopyAnew copies anew after rows were deleted that the follower did not see, and checks that the graph loses them.
func TestCopyAnew(t *testing.T) {
	slow.Test(t)
	w := newWorld(t, tables)
	w.exec(`INSERT INTO people SELECT n, 'p' || n, repeat('x', 9000), n FROM generate_series(1, 10) n;
		INSERT INTO books SELECT 'i' || n, 't' || n, n, n FROM generate_series(1, 10) n;
		INSERT INTO knows SELECT n, n + 1, n FROM generate_series(1, 9) n`)
	w.caughtUp()
	w.exec("UPDATE people SET age = 50 WHERE id <= 5; INSERT INTO people VALUES (11, 'p11', repeat('y', 9000), NULL); UPDATE people SET id = 12 WHERE id = 10")
	w.caughtUp()
	w.write("more.ndjson", `{"type":"Person","data":{"no":99,"name":"made by hand","extra":"e"}}
{"edge":"Likes","from":"99","to":"3","data":{"id":"l1"}}
{"edge":"Likes","from":"99","to":"4","data":{"id":"l2"}}
`)
	w.omnigraph("load", "--store", w.store, "--mode", "append", "--data", w.dir+"/more.ndjson")
	byHand := func(want string) {
		t.Helper()
		if got := strings.Count(w.export(), `"edge":"Likes"`); !strings.Contains(w.export(), "made by hand") || strings.Repeat("l", got) != want {
			t.Errorf("the graph has %d edges that were made by hand, expected %d; or it lacks the node", got, len(want))
		}
	}
	byHand("ll")

	w.exec("DELETE FROM people WHERE id = 11; UPDATE people SET age = NULL, note = NULL WHERE id = 5")
	w.omnigraph(w.args("--copy-anew", "--once")...)
	if got := strings.Join(w.lines(), "\n"); strings.Contains(got, "person|11|") || !strings.Contains(got, "person|5|p5|-|-") {
		t.Errorf("after a copy anew the graph is\n%.2000s", got)
	}
	byHand("ll")

	w.exec("DELETE FROM people WHERE id IN (2, 3, 4)") // and with them their rows in knows
	out, err := w.once("--copy-anew")
	m := regexp.MustCompile(`--approve-deletes (\d+)`).FindStringSubmatch(out)
	if err == nil || m == nil {
		t.Fatalf("found %v, expected a refusal that names the number of deletes:\n%s", err, out)
	}
	conn, slots := w.connect(), 0
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()").Scan(&slots); err != nil || slots != 0 {
		t.Errorf("after a refused copy there are %d slots, %v", slots, err)
	}
	if out, err = w.once("--approve-deletes", m[1]); err != nil || !strings.Contains(out, "nodes whose rows are gone stay") {
		t.Fatalf("%v\n%s", err, out)
	}
	byHand("ll")
	got := strings.Join(w.lines(), "\n")
	if strings.Contains(got, "person|2|") || !strings.Contains(got, "person|3|") || !strings.Contains(got, "person|4|") || strings.Contains(got, "knows|3|4") {
		t.Errorf("expected the person 2 and the edges from 3 to 4 gone, and 3 and 4 to stay because of other edges:\n%.2000s", got)
	}

	out, err = w.once("--copy-anew", "--cascade")
	if m = regexp.MustCompile(`--approve-deletes (\d+)`).FindStringSubmatch(out); err == nil || m == nil {
		t.Fatalf("found %v, expected a refusal that names the number of deletes:\n%s", err, out)
	}
	if out, err = w.once("--cascade", "--approve-deletes", m[1]); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	byHand("")
	w.exec("INSERT INTO people VALUES (20, 'p20', NULL, 1); DELETE FROM people WHERE id = 1")
	w.omnigraph(w.args("--once")...)
	rows, lines := w.rows(), strings.ReplaceAll(strings.Join(w.lines(), "\n"), "person|99|made by hand|-|-\n", "")
	if want := strings.Join(rows, "\n"); lines != want {
		t.Errorf("found\n%.2000s\nexpected\n%.2000s", lines, want)
	}
}
