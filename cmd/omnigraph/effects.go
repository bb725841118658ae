package main

import (
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
)

// withEffects adds to the note below a table what a write did: the numbers by kind, the changes that a dry run
// shows, one a line, and the notes of the answer.
func withEffects(note string, e *client.WriteEffects) string {
	var parts []string
	if note != "" {
		parts = append(parts, note)
	}
	for _, of := range []struct {
		kind   string
		counts *client.ChangeCounts
	}{{"nodes", e.NodeChanges}, {"edges", e.EdgeChanges}} {
		if c := of.counts; c != nil && *c != (client.ChangeCounts{}) {
			parts = append(parts, fmt.Sprintf("%s: %d inserted, %d updated, %d deleted", of.kind, c.Inserted, c.Updated, c.Deleted))
		}
	}
	note = strings.Join(append(parts, e.Notes...), "; ")
	for i := range e.Changes {
		for _, row := range rowsOfChange(&e.Changes[i]) {
			r := row.(changeRow)
			note += fmt.Sprintf("\n%s %s", r.Op, r.Entity)
			if r.Property != "" {
				note += fmt.Sprintf(" %s: %s -> %s", r.Property, orNull(r.Before), orNull(r.After))
			}
		}
	}
	if e.MoreChanges {
		note += "\nthere are more changes"
	}
	return note
}
