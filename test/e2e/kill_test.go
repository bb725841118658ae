package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestKill kills the server with SIGKILL during mutations and loads, several times on the same
// data. After each kill every acknowledged commit must exist, and no commit may be there in part.
func TestKill(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	const (
		writers   = 4
		batchSize = 40 // nodes of one load, each with an edge
	)
	dir := clusterDir(t)
	var mu sync.Mutex
	notes := map[string]bool{}   // whether the note was acknowledged, by slug
	batches := map[string]bool{} // whether the load was acknowledged, by prefix of its slugs
	record := func(m map[string]bool, key string, acknowledged bool) {
		mu.Lock()
		defer mu.Unlock()
		m[key] = acknowledged
	}
	acknowledged := 0
	for round := range rounds {
		p := start(t, dir)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := 0; ; i++ {
					slug := fmt.Sprintf("note-%d-%d-%d", round, w, i)
					record(notes, slug, false)
					body := fmt.Sprintf(`{"params":{"slug":%q,"symbol":"example.com/p.F%d","text":"t"}}`, slug, i%10)
					status, err := p.post("/graphs/code/queries/add_note", "application/json", body, nil)
					if err != nil {
						return // the server was killed
					}
					if status != http.StatusOK {
						t.Errorf("add_note answered %d", status)
						return
					}
					record(notes, slug, true)
				}
			})
		}
		wg.Go(func() {
			for i := 0; ; i++ {
				prefix := fmt.Sprintf("load-%d-%d-", round, i)
				var b strings.Builder
				for n := range batchSize {
					fmt.Fprintf(&b, `{"type":"Note","data":{"slug":"%s%03d","text":"loaded","created":"2026-01-01T00:00:00Z"}}`+"\n", prefix, n)
					fmt.Fprintf(&b, `{"edge":"About","from":"%s%03d","to":"example.com/p.F%d","data":{"id":"%s%03d"}}`+"\n", prefix, n, n%10, prefix, n)
				}
				record(batches, prefix, false)
				status, err := p.post("/graphs/code/load/ndjson?mode=append", "application/x-ndjson", b.String(), nil)
				if err != nil {
					return
				}
				if status != http.StatusOK {
					t.Errorf("load answered %d", status)
					return
				}
				record(batches, prefix, true)
			}
		})
		time.Sleep(time.Duration(100+rand.IntN(400)) * time.Millisecond)
		p.kill()
		wg.Wait()

		found := verify(t, start(t, dir))
		acknowledged = 0
		for slug, acked := range notes {
			if acked {
				acknowledged++
			}
			if acked && !found[slug] {
				t.Errorf("round %d: the acknowledged note %s is lost", round, slug)
			}
			delete(found, slug)
		}
		for prefix, acked := range batches {
			n := 0
			for i := range batchSize {
				if slug := fmt.Sprintf("%s%03d", prefix, i); found[slug] {
					n++
					delete(found, slug)
				}
			}
			if acked {
				acknowledged++
			}
			if acked && n != batchSize || n != 0 && n != batchSize {
				t.Errorf("round %d: %d of %d nodes of load %s are there (acknowledged: %v)", round, n, batchSize, prefix, acked)
			}
		}
		for slug := range found {
			t.Errorf("round %d: note %s was never sent", round, slug)
		}
	}
	if acknowledged < rounds*writers {
		t.Errorf("only %d commits were acknowledged in %d rounds: the test proves nothing", acknowledged, rounds)
	}
	t.Logf("%d acknowledged commits survived %d kills", acknowledged, rounds)
}

// verify returns the slugs of all notes and checks that each note has its edge. It kills the server
// at the end.
func verify(t *testing.T, p *process) map[string]bool {
	t.Helper()
	defer p.kill()
	var all, halves struct {
		Rows []struct {
			Slug string `json:"slug"`
		} `json:"rows"`
		RowCount int `json:"row_count"`
	}
	for query, answer := range map[string]any{
		`query all() { match { $n: Note } return { $n.slug as slug } }`:                        &all,
		`query halves() { match { $n: Note not { $n about $_ } } return { $n.slug as slug } }`: &halves,
	} {
		if status, err := p.post("/graphs/code/query", "application/json", fmt.Sprintf(`{"query":%q}`, query), answer); err != nil || status != http.StatusOK {
			t.Fatalf("status %d, %v", status, err)
		}
	}
	if halves.RowCount > 0 {
		t.Errorf("%d notes exist without their edges, such as %s", halves.RowCount, halves.Rows[0].Slug)
	}
	found := map[string]bool{}
	for _, row := range all.Rows {
		found[row.Slug] = true
	}
	return found
}
