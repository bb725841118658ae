package enginetest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
)

// editText applies the schema of the branch with changes, which may lose data only if the statement says so, and
// returns the steps or the failure.
func (s *session) editText(st statement) []string {
	s.Helper()
	option, diff, _ := strings.Cut(st.text, "\n")
	now, err := s.graph.Schema(s.ctx, s.target())
	if err != nil {
		s.Fatalf("%s: %v", st.at, err)
	}
	text, missing := edited(now.Source, diff)
	if missing != "" {
		s.Fatalf("%s: the schema has no line %q here:\n%s", st.at, missing, now.Source)
	}
	got := s.applyText(st, text, option == "lossy")
	if st.want == nil && !strings.HasPrefix(got[0], "! ") && !strings.HasSuffix(got[0], "no commit") {
		return nil
	}
	return got
}

// edited returns a schema with the changes of a diff. In the diff, a line that begins with "+ " is put in, and one that
// begins with "- " is taken out, with the whole declaration if it ends in "{"; the other lines say where. It returns the
// first line of the diff that the schema does not have after the lines before it.
func edited(schema, diff string) (text, missing string) {
	lines, at := strings.Split(schema, "\n"), 0
	for change := range strings.SplitSeq(diff, "\n") {
		line, added := strings.CutPrefix(change, "+ ")
		if added {
			lines = slices.Insert(lines, at, line)
			at++
			continue
		}
		line, removed := strings.CutPrefix(change, "- ")
		line, whole := strings.CutSuffix(line, " ... }")
		found := slices.IndexFunc(lines[at:], func(l string) bool { return strings.TrimSpace(l) == strings.TrimSpace(line) })
		if found < 0 {
			return "", line
		}
		at += found
		switch {
		case !removed:
			at++
		case whole:
			lines = slices.Delete(lines, at, at+1+slices.Index(lines[at:], "}"))
		default:
			lines = slices.Delete(lines, at, at+1)
		}
	}
	return strings.Join(lines, "\n"), ""
}

// moveText gives edges other ends. An engine may report a violation for a line or for the load.
func (s *session) moveText(st statement) []string {
	s.Helper()
	err := s.tryMove(s.branch, strings.TrimPrefix(st.text, "\n"))
	if violation := (*engine.ConstraintViolation)(nil); errors.As(err, &violation) {
		err = violation
	}
	return failure(err)
}

// changesText returns the changes of the head of the branch, or the images before and after each, or the failure.
func (s *session) changesText(st statement) []string {
	s.Helper()
	changes, err := s.graph.Changes(s.ctx, s.head().ID, engine.ChangeRange{Entities: strings.Fields(st.text), Images: st.verb == "images"})
	if err != nil {
		return failure(err)
	}
	var lines []string
	for _, c := range changes.List {
		line := strings.TrimSuffix(changeText(&c), "\n")
		if st.verb == "images" {
			line = c.ID + ": before" + imageText(c.Before) + ", after" + imageText(c.After)
		}
		lines = append(lines, strings.ReplaceAll(line, "; ", " / "))
	}
	if lines == nil {
		return []string{"no change"}
	}
	return lines
}

// sourcesText returns the nodes and edges of the branch that have sources, with what these claim.
func (s *session) sourcesText() []string {
	s.Helper()
	sources, err := sourcesOf(s.ctx, s.graph, s.target())
	if err != nil {
		return failure(err)
	}
	var lines []string
	for _, at := range sortedKeys(sources) {
		lines = append(lines, at+" "+strings.ReplaceAll(sources[at], ";", " "))
	}
	if lines == nil {
		return []string{"no source"}
	}
	return lines
}

// countsText returns the types that have nodes or edges, with their numbers.
func (s *session) countsText() []string {
	s.Helper()
	snap, err := s.graph.Snapshot(s.ctx, s.target())
	if err != nil {
		return failure(err)
	}
	return []string{typeCounts(snap.Nodes, snap.Edges)}
}

// typeCounts returns the types of which there is something, with their numbers, or "nothing".
func typeCounts(nodes, edges []engine.TypeCount) string {
	var counts []string
	for _, c := range slices.Concat(nodes, edges) {
		if c.Count > 0 {
			counts = append(counts, fmt.Sprint(c.Type, " ", c.Count))
		}
	}
	return cmp.Or(strings.Join(counts, ", "), "nothing")
}

// takeText returns the resolutions of a merge: lines with "take", the branch whose side is taken, and the place of the conflict.
func takeText(lines, source string) (all []engine.Resolution) {
	for line := range strings.Lines(lines) {
		words := append(strings.Fields(line), "")
		r := engine.Resolution{ConflictPlace: engine.ConflictPlace{Entity: words[2], Type: words[3], ID: words[4], Property: words[5]}, Take: engine.TakeOurs}
		if words[1] == source {
			r.Take = engine.TakeTheirs
		}
		all = append(all, r)
	}
	return all
}

// loadOption sets an option of a load. It reports whether there is one of this name.
func loadOption(opts *engine.LoadOptions, word string) bool {
	if mode, ok := engine.ParseLoadMode(word); ok {
		opts.Mode = mode
		return true
	}
	name, arg, _ := strings.Cut(word, "=")
	switch name {
	case "new-edges":
		opts.NewEdges = true
	case "last-wins":
		opts.LastWins = true
	case "key":
		opts.IdempotencyKey = arg
	case "dry-run":
		opts.DryRun = true
	case "source":
		opts.Sync.Source = arg
	case "types":
		opts.Sync.Types = strings.Split(arg, ",")
	case "yield":
		opts.Sync.Yield = strings.Split(arg, ",")
	case "cascade":
		opts.Sync.Cascade = true
	case "approve":
		opts.Sync.ApproveDeletes, _ = strconv.ParseInt(arg, 10, 64)
	case "from": // the changes of the source db from a position to another, such as from=1..2
		after, position, _ := strings.Cut(arg, "..")
		opts.Changes = &engine.SourceChanges{Source: "db", After: after, Position: position}
	default:
		return false
	}
	return true
}

// syncText returns what a load reports of its source: the numbers that are not 0, and the position if the load has one.
func syncText(res *engine.LoadResult) (lines []string) {
	if r := res.Sync; r != nil {
		var parts []string
		for _, n := range []struct {
			name  string
			count int64
		}{{"overwritten", r.Overwritten}, {"released", r.Released}, {"deleted", r.Deleted}, {"cascaded", r.Cascaded}, {"kept", r.Kept}} {
			if n.count > 0 {
				parts = append(parts, fmt.Sprint(n.name, " ", n.count))
			}
		}
		for _, at := range r.KeptFirst {
			parts = append(parts, fmt.Sprint(at.Entity, " ", at.Type, " ", at.ID))
		}
		if parts != nil {
			lines = append(lines, strings.Join(parts, ", "))
		}
	}
	if res.Position != "" {
		lines = append(lines, "position "+res.Position)
	}
	return lines
}
