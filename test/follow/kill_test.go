package follow

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

var (
	rounds = flag.Int("follow.rounds", 3, "rounds of TestKills; in each one something is killed")
	seed   = flag.Uint64("follow.seed", 0, "seed of TestKills; 0 for a new one")
)

// perRound is the number of transactions in a round.
const perRound = 38

// TestKills runs random transactions while a follower runs. In each round it kills the follower, in every sixth the database, and
// in every sixth the connections. After each round the graph must equal the tables.
func TestKills(t *testing.T) {
	slow.Test(t)
	if *seed == 0 {
		*seed = uint64(clock.Now().UnixNano())
	}
	t.Logf("seed %d", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 0))
	w := newWorld(t, tables)
	conn := w.connect()
	committed, followers, databases, connections := 0, 0, 0, 0
	for round := range *rounds {
		p := w.start("--batch-bytes", []string{"0", "2000"}[round%2]) // with 2000, most transactions go through files
		kind := []string{"follower", "database", "follower", "connections", "follower", "follower"}[round%6]
		at := rnd.IntN(perRound)
		for k := range perRound {
			if k == at {
				switch kind {
				case "database":
					databases++
					conn.Close(context.Background())
					w.server.Stop(t, syscall.SIGQUIT)
					w.server.Start(t, settings...)
					conn = w.connect()
				case "connections":
					connections++
					w.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_replication")
				default:
					followers++
					time.Sleep(time.Duration(rnd.IntN(400)) * time.Millisecond) // anywhere in its start, its copy or its loads
					w.stop(p, os.Kill)
				}
			}
			if transaction(t, conn, rnd) {
				committed++
			}
		}
		if kind != "follower" {
			time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
			w.stop(p, os.Kill)
		}
		w.caughtUp()
	}
	conn.Close(context.Background())
	t.Logf("%d transactions, %d kills of followers in their midst, %d of the database, %d broken connections; %d entities", committed, followers, databases, connections, len(w.rows()))
}

// transaction runs a random transaction, and reports whether it was committed.
func transaction(t *testing.T, conn *pgx.Conn, rnd *rand.Rand) bool {
	t.Helper()
	ctx := t.Context()
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	const people, books = 60, 40
	id := func() int { return 1 + rnd.IntN(people) }
	isbn := func() string { return fmt.Sprintf("i%d", 1+rnd.IntN(books)) }
	long := func() string {
		var b strings.Builder
		for b.Len() < 3000+rnd.IntN(9000) {
			fmt.Fprintf(&b, "%x", rnd.Uint64())
		}
		return b.String()
	}
	for range 1 + rnd.IntN(12) {
		var sql string
		var args []any
		switch rnd.IntN(16) {
		case 0, 1, 2:
			sql, args = "INSERT INTO people VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING", []any{id(), fmt.Sprint("p", rnd.IntN(99)), long(), rnd.IntN(99)}
		case 3:
			sql, args = "INSERT INTO people VALUES ($1, $2, NULL, NULL) ON CONFLICT (id) DO UPDATE SET name = excluded.name", []any{id(), fmt.Sprint("q", rnd.IntN(99))}
		case 4, 5:
			sql, args = "UPDATE people SET age = $2 WHERE id = $1", []any{id(), rnd.IntN(99)}
		case 6:
			sql, args = "UPDATE people SET note = $2 WHERE id = $1", []any{id(), long()}
		case 7:
			sql, args = "UPDATE people SET id = $2 WHERE id = $1 AND NOT EXISTS (SELECT FROM people WHERE id = $2)", []any{id(), id()}
		case 8:
			sql, args = "DELETE FROM people WHERE id = $1", []any{id()}
		case 9:
			sql, args = "INSERT INTO knows SELECT a.id, b.id, $3 FROM people a, people b WHERE a.id = $1 AND b.id = $2 ON CONFLICT (a, b) DO UPDATE SET since = excluded.since", []any{id(), id(), rnd.IntN(30)}
		case 10:
			sql, args = "UPDATE knows k SET b = $2 WHERE a = $1 AND EXISTS (SELECT FROM people WHERE id = $2) AND NOT EXISTS (SELECT FROM knows WHERE a = $1 AND b = $2) AND b = (SELECT min(b) FROM knows WHERE a = $1)", []any{id(), id()}
		case 11:
			sql, args = "DELETE FROM knows WHERE a = $1", []any{id()}
		case 12, 13:
			sql, args = "INSERT INTO books SELECT $1, $2, (SELECT id FROM people WHERE id = $3), $4 ON CONFLICT (isbn) DO UPDATE SET owner = excluded.owner, title = excluded.title", []any{isbn(), fmt.Sprint("t", rnd.IntN(99)), id(), rnd.IntN(500)}
		case 14:
			sql, args = "UPDATE books SET isbn = $2, owner = (SELECT id FROM people WHERE id = $3) WHERE isbn = $1 AND NOT EXISTS (SELECT FROM books WHERE isbn = $2)", []any{isbn(), isbn(), id()}
		case 15:
			sql, args = "DELETE FROM books WHERE isbn = $1", []any{isbn()}
		}
		if _, err := tx.Exec(ctx, sql, args...); err != nil {
			t.Fatalf("%s %v: %v", sql, args, err)
		}
	}
	if rnd.IntN(10) == 0 {
		return false
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	return true
}
