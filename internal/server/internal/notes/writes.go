package notes

import (
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Replaced returns a note that says which nodes the inserts of a mutation replaced, or nil if there are none.
func Replaced(c *engine.Change, dryRun bool) []string {
	if c.Effects == nil || c.Effects.Replaced == 0 {
		return nil
	}
	var names []string
	for _, at := range c.Effects.ReplacedFirst {
		names = append(names, fmt.Sprintf("%s %q", at.Type, at.ID))
	}
	list := strings.Join(names, ", ")
	if more := c.Effects.Replaced - int64(len(names)); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	replaced := "replaced nodes that existed"
	switch {
	case dryRun:
		replaced = "would replace nodes that exist"
	case c.Commit == nil:
		replaced = "found nodes that existed with the same values"
	}
	return []string{fmt.Sprintf("insert %s: %s; it sets every property that it does not name to null. To keep them, use upsert or update", replaced, list)}
}
