package guide

import (
	"context"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// Path is a sequence of edges from one node type to another.
type Path struct {
	Steps []Step // in order
	// Match is the path as clauses of a match, with a variable for each type.
	Match string
}

// Step is one edge of a path.
type Step struct {
	Edge     *catalog.Edge // the edge type
	Backward bool          // the path follows the edge from its target to its source
	To       string        // the node type that the step leads to
}

// maxSteps bounds the number of steps that one search for paths may take.
const maxSteps = 100_000

// Paths lists paths of at most maxHops edges from one node type to another: the shortest first,
// then in the order of the schema. It lists at most `limit` paths. No type occurs twice in a path,
// except at the two ends of a path from a type to itself. The result `more` reports whether there
// are, or may be, other paths within maxHops.
func Paths(s *catalog.Schema, from, to string, maxHops, limit int) (paths []Path, more bool) {
	return findPaths(nil, s, from, to, maxHops, limit)
}

// PathsWithin is like Paths, but stops when the context ends. It then returns the error of the
// context.
func PathsWithin(ctx context.Context, s *catalog.Schema, from, to string, maxHops, limit int) (paths []Path, more bool, err error) {
	defer work.Catch(&err)
	paths, more = findPaths(work.New(ctx, work.Limits{}), s, from, to, maxHops, limit)
	return paths, more, nil
}

// findPaths is Paths with a meter that may panic to end the search.
func findPaths(m *work.Meter, s *catalog.Schema, from, to string, maxHops, limit int) (paths []Path, more bool) {
	w := &walk{meter: m, to: to, limit: limit, budget: maxSteps, around: map[string][]Step{}}
	for _, e := range s.Edges {
		m.Step(1)
		for _, from := range s.EndsAt(e, false) {
			for _, to := range s.EndsAt(e, true) {
				m.Step(1)
				w.around[from.Name] = append(w.around[from.Name], Step{Edge: e, To: to.Name})
				w.around[to.Name] = append(w.around[to.Name], Step{Edge: e, Backward: true, To: from.Name})
			}
		}
	}
	w.measure()
	for hops := 1; hops <= maxHops && !w.more; hops++ {
		w.visit(from, hops, []string{from})
	}
	for i := range w.found {
		w.found[i].Match = clauses(from, w.found[i].Steps)
	}
	return w.found, w.more
}

// walk is one search for the paths to a node type.
type walk struct {
	meter *work.Meter // counts the work; nil for no limits
	to    string      // the target type
	// `limit` is the maximum number of paths to find. `budget` is the number of steps that the
	// search may still take.
	limit, budget int
	around        map[string][]Step // the steps from each type
	distance      map[string]int    // hops from each type to the target type
	steps         []Step            // the path up to the current type
	found         []Path            // the complete paths, in order
	more          bool              // there are, or may be, more paths than found
}

// measure computes the distance of each type from the target type.
func (w *walk) measure() {
	w.distance = map[string]int{w.to: 0}
	queue := []string{w.to}
	for len(queue) > 0 {
		t := queue[0]
		queue = queue[1:]
		for _, s := range w.around[t] {
			w.meter.Step(1)
			if _, known := w.distance[s.To]; !known {
				w.distance[s.To] = w.distance[t] + 1
				queue = append(queue, s.To)
			}
		}
	}
}

// visit finds the paths that lead on from the type `at` over exactly `hops` more edges.
func (w *walk) visit(at string, hops int, seen []string) {
	for _, s := range w.around[at] {
		w.meter.Step(1)
		if w.more {
			return
		}
		if w.budget--; w.budget < 0 {
			w.more = true
			return
		}
		next := s.To
		far, reachable := w.distance[next]
		if !reachable || far > hops-1 {
			continue
		}
		switch {
		case next == w.to && hops == 1:
			if len(w.found) == w.limit {
				w.more = true
				return
			}
			w.found = append(w.found, Path{Steps: append(slices.Clone(w.steps), s)})
		case next == w.to || slices.Contains(seen, next): // a path goes neither through its end nor through a type twice
		default:
			w.steps = append(w.steps, s)
			w.visit(next, hops-1, append(seen, next))
			w.steps = w.steps[:len(w.steps)-1]
		}
	}
}

// clauses writes a path as clauses of a match. Each clause writes an edge from the source to the
// target. A node at an end that is an interface is bound to its type.
func clauses(from string, steps []Step) string {
	names := variables{}
	at := names.of(from)
	lines := []string{at + ": " + from}
	for _, s := range steps {
		next := names.of(s.To)
		if _, shared := s.Edge.End(!s.Backward); shared {
			lines = append(lines, next+": "+s.To)
		}
		if s.Backward {
			lines = append(lines, next+" "+EdgeName(s.Edge)+" "+at)
		} else {
			lines = append(lines, at+" "+EdgeName(s.Edge)+" "+next)
		}
		at = next
	}
	return strings.Join(lines, "\n")
}
